import { createBenchClient, percentile, round } from './support/client.js';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8);

/** Latency and throughput of one endpoint at a number of clients, each asking again as soon as it is answered. */
export async function loadSearch(
  target: { readonly url: string; readonly secret: string },
  { user, queries, clients }: { user: string; queries: readonly string[]; clients: number },
) {
  const client = createBenchClient({ ...target, user });
  const milliseconds: number[] = [];
  let asked = 0;
  const lane = async (until: number) => {
    while (performance.now() < until) {
      const query = queries[asked++ % queries.length] ?? '';
      const sent = performance.now();
      const { status } = await client.post('/retrieve/chunks', { query, k: 10 });
      if (status !== 200) throw new Error(`search answered ${String(status)}`);
      milliseconds.push(performance.now() - sent);
    }
  };
  const run = (seconds: number) =>
    Promise.all(Array.from({ length: clients }, () => lane(performance.now() + seconds * 1_000)));
  await run(1.5);
  milliseconds.length = 0;
  const started = performance.now();
  await run(SECONDS);
  const seconds = (performance.now() - started) / 1_000;
  client.close();
  return {
    clients,
    queriesPerSecond: round(milliseconds.length / seconds, 1),
    p50Ms: round(percentile(milliseconds, 0.5)),
    p95Ms: round(percentile(milliseconds, 0.95)),
    p99Ms: round(percentile(milliseconds, 0.99)),
  };
}
