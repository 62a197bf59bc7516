import { percentile, round } from '../support/client.js';
import { startEngine, type RunningEngine } from './start-engine.js';

const ROUNDS = 15;
/** Queries of a round. */
const QUERIES = 20;

/** Starts the engines one after another, uses them, and ends them. */
export async function withEngines<Result>(
  names: readonly string[],
  size: number,
  use: (engines: readonly RunningEngine[]) => Promise<Result>,
): Promise<Result> {
  const engines: RunningEngine[] = [];
  try {
    for (const name of names) engines.push(await startEngine(name, size));
    return await use(engines);
  } finally {
    for (const engine of engines) engine.stop();
  }
}

/**
 * Searches in the process of each engine, by one thread, in rounds that alternate so that what else the machine does falls
 * on all alike. A ratio is what it takes beside the first engine.
 */
export async function measureInProcess(engines: readonly RunningEngine[]) {
  const times = new Map<string, number[]>(engines.map(({ name }) => [name, []]));
  for (let at = 0; at < ROUNDS; at += 1) {
    for (const { name, round: ask } of engines) {
      const milliseconds = await ask(at * QUERIES, QUERIES);
      times.get(name)?.push(...milliseconds);
    }
  }
  const rows = engines.map(({ name, built }) => {
    const all = times.get(name) ?? [];
    return {
      engine: name,
      buildSeconds: round(built.buildSeconds),
      heldMb: round(built.heldMb, 1),
      besideHeapMb: round(built.besideHeapMb, 1),
      p50Ms: round(percentile(all, 0.5), 3),
      p95Ms: round(percentile(all, 0.95), 3),
      meanMs: round(all.reduce((sum, each) => sum + each, 0) / all.length, 3),
    };
  });
  const [own] = rows;
  const ratio = (of: number, to: number | undefined) => round(of / (to ?? Number.NaN));
  return rows.map((row) => ({
    ...row,
    p50Ratio: ratio(row.p50Ms, own?.p50Ms),
    meanRatio: ratio(row.meanMs, own?.meanMs),
    buildRatio: ratio(row.buildSeconds, own?.buildSeconds),
  }));
}
