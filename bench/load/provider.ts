import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/redis.js';

export interface Provider {
  /** Settings with which the service asks it for vectors. */
  readonly env: Readonly<Record<string, string>>;
  stop(): void;
}

/** Starts a provider of embeddings that takes so long for each request; null where its program is absent. */
export async function startProvider(latencyMs: number): Promise<Provider | null> {
  const program = join(process.env['QUIRE_SHARED'] ?? '../shared', 'tools', 'fake-openai.mjs');
  if (!existsSync(program)) {
    console.log(`skipped: ingest with a provider, since there is none at ${program}`);
    return null;
  }
  const port = String(await freePort());
  const child = fork(program, ['--port', port, '--latency-ms', String(latencyMs)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    execArgv: [],
  });
  // It says where it listens.
  if (child.stdout) await once(child.stdout, 'data');
  return {
    env: {
      OPENAI_API_KEY: 'any',
      QUIRE_EMBEDDER: 'openai',
      QUIRE_EMBEDDING_BASE_URL: `http://127.0.0.1:${port}/v1`,
    },
    stop: () => void child.kill(),
  };
}
