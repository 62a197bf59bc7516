import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/redis.js';
import { startBenchService } from '../load/bench-service.js';
import { ingestBatches } from '../load/ingest-batches.js';
import type { Measured } from './goals.js';

const LATENCY_MS = 100;
/** The first run meets cold processes. */
const RUNS = 3;

/** Ingest in batches where vectors come from a provider that takes 100 ms for each request; null where it is absent. */
export async function measureProviderIngest(documents: readonly { id: string; text: string }[]) {
  const program = join(process.env['QUIRE_SHARED'] ?? '../shared', 'tools', 'fake-openai.mjs');
  if (!existsSync(program)) {
    console.log(`skipped: ingest with a provider, since there is none at ${program}`);
    return null;
  }
  const port = String(await freePort());
  const provider = fork(program, ['--port', port, '--latency-ms', String(LATENCY_MS)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    execArgv: [],
  });
  try {
    // It says where it listens.
    if (provider.stdout) await once(provider.stdout, 'data');
    const rows = await measureRuns(`http://127.0.0.1:${port}/v1`, documents);
    console.log(`the same in batches, with a provider that takes ${String(LATENCY_MS)} ms for each request`);
    console.table(rows);
    const warm = rows.slice(1).map(({ documentsPerSecond }) => documentsPerSecond);
    const measured: Measured = { 'provider ingest': { value: Math.max(...warm) } };
    return { figures: rows, measured };
  } finally {
    provider.kill();
  }
}

async function measureRuns(baseUrl: string, documents: readonly { id: string; text: string }[]) {
  const service = await startBenchService({
    OPENAI_API_KEY: 'any',
    QUIRE_EMBEDDER: 'openai',
    QUIRE_EMBEDDING_BASE_URL: baseUrl,
  });
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
