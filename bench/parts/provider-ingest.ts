import { startBenchService } from '../load/bench-service.js';
import { ingestBatches } from '../load/ingest-batches.js';
import { startProvider, type Provider } from '../load/provider.js';
import type { Measured } from './goals.js';

const LATENCY_MS = 100;
/** The first run meets cold processes. */
const RUNS = 3;

/** Ingest in batches where vectors come from a provider that takes 100 ms for each request; null where it is absent. */
export async function measureProviderIngest(documents: readonly { id: string; text: string }[]) {
  const provider = await startProvider(LATENCY_MS);
  if (!provider) return null;
  try {
    const rows = await measureRuns(provider, documents);
    console.log(`the same in batches, with a provider that takes ${String(LATENCY_MS)} ms for each request`);
    console.table(rows);
    const warm = rows.slice(1).map(({ documentsPerSecond }) => documentsPerSecond);
    const measured: Measured = { 'provider ingest': { value: Math.max(...warm) } };
    return { figures: rows, measured };
  } finally {
    provider.stop();
  }
}

async function measureRuns({ env }: Provider, documents: readonly { id: string; text: string }[]) {
  const service = await startBenchService(env);
  try {
    const rows = [];
    for (let run = 1; run <= RUNS; run += 1) {
      const { figures } = await ingestBatches(service.target, documents, { user: 'provided' });
      rows.push({ run, ...figures });
    }
    return rows;
  } finally {
    await service.stop();
  }
}
