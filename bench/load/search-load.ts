import { authorizationOf, createBenchClient, percentile, round } from '../support/client.js';
import { createRandom } from '../support/random.js';

const WARM_UP_SECONDS = 1.5;

interface LoadOptions {
  readonly url: string;
  readonly secret: string;
  /** The users of the searches: one of these is drawn for each. */
  readonly users: readonly string[];
  readonly queries: readonly string[];
  readonly clients: number;
}

export type SearchFigures = ReturnType<SearchLoad['figures']>;
export type SearchLoad = ReturnType<typeof createSearchLoad>;

/** Searches for ten chunks by a number of clients, each of which asks again as soon as it is answered. */
export function createSearchLoad({ url, secret, users, queries, clients }: LoadOptions) {
  const client = createBenchClient({ url, secret, user: '' });
  const authorizations = users.map((user) => authorizationOf(secret, user));
  const below = createRandom();
  const milliseconds: number[] = [];
  let [asked, seconds] = [0, 0];
  const lane = async (until: number) => {
    while (performance.now() < until) {
      const query = queries[asked++ % queries.length] ?? '';
      const authorization = authorizations[below(authorizations.length)] ?? '';
      const sent = performance.now();
      const { status } = await client.post('/retrieve/chunks', { query, k: 10 }, { authorization });
      if (status !== 200) throw new Error(`search answered ${String(status)}`);
      milliseconds.push(performance.now() - sent);
    }
  };
  const run = async (forSeconds: number) => {
    const until = performance.now() + forSeconds * 1_000;
    await Promise.all(Array.from({ length: clients }, () => lane(until)));
  };
  return {
    /** Searches that are not counted. */
    warmUp: async () => {
      await run(WARM_UP_SECONDS);
      milliseconds.length = 0;
    },
    /** May be called again: the figures are those of all runs. */
    run: async (forSeconds: number) => {
      const started = performance.now();
      await run(forSeconds);
      seconds += (performance.now() - started) / 1_000;
    },
    figures: () => ({
      clients,
      queriesPerSecond: round(milliseconds.length / seconds, 1),
      p50Ms: round(percentile(milliseconds, 0.5)),
      p95Ms: round(percentile(milliseconds, 0.95)),
      p99Ms: round(percentile(milliseconds, 0.99)),
    }),
    close: () => client.close(),
  };
}

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8);

/** One such load from warm-up to figures: `BENCH_SECONDS` long (default 8). */
export async function loadSearch(options: LoadOptions): Promise<SearchFigures> {
  const load = createSearchLoad(options);
  try {
    await load.warmUp();
    await load.run(SECONDS);
    return load.figures();
  } finally {
    load.close();
  }
}
