import { percentile, round } from './client.js';

/** Times each of `ways` in turn, so that what else the machine does falls on all alike. Milliseconds. */
export async function alternate<Name extends string>(
  rounds: number,
  ways: Readonly<Record<Name, (round: number) => Promise<unknown>>>,
): Promise<Record<Name, { p50: number; p95: number }>> {
  // @NOTE Object.entries forgets the names
  const entries = Object.entries(ways) as [Name, (round: number) => Promise<unknown>][];
  const times = new Map<Name, number[]>(entries.map(([name]) => [name, []]));
  for (let at = -10; at < rounds; at += 1) {
    for (const [name, ask] of entries) {
      const started = performance.now();
      await ask(Math.abs(at));
      if (at >= 0) times.get(name)?.push(performance.now() - started);
    }
  }
  const figures = entries.map(([name]) => {
    const all = times.get(name) ?? [];
    return [name, { p50: round(percentile(all, 0.5)), p95: round(percentile(all, 0.95)) }] as const;
  });
  return Object.fromEntries(figures) as Record<Name, { p50: number; p95: number }>;
}

/** Answers a second of `clients` that each ask again as soon as they are answered. */
export async function throughput(
  clients: number,
  seconds: number,
  ask: (client: number, round: number) => Promise<unknown>,
): Promise<number> {
  let answers = 0;
  const run = async (until: number) => {
    await Promise.all(
      Array.from({ length: clients }, async (_, client) => {
        for (let at = client; performance.now() < until; at += clients) {
          await ask(client, at);
          answers += 1;
        }
      }),
    );
  };
  await run(performance.now() + 1_000);
  answers = 0;
  const started = performance.now();
  await run(started + seconds * 1_000);
  return round(answers / ((performance.now() - started) / 1_000), 1);
}
