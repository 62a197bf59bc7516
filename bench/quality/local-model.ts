import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { freePort } from '../../test/support/redis.js';
import { inheritedEnvironment, startProcess } from '../../test/support/service.js';

/** A file in GGUF that makes vectors. */
export interface LocalModel {
  /** Its bare name. */
  readonly name: string;
  readonly folder: string;
}

/** The embedding model that `QUIRE_BENCH_MODEL` names, or why there is none. */
export function findLocalModel(): LocalModel | string {
  const path = process.env['QUIRE_BENCH_MODEL'] ?? '';
  if (path === '') return 'QUIRE_BENCH_MODEL names no model: /path/to/some-embedding-model.gguf';
  if (!existsSync(path)) return `QUIRE_BENCH_MODEL names a file that is not there: ${path}`;
  return { name: basename(path), folder: resolve(dirname(path)) };
}

/** Starts the process with local models for it, and says with which settings a service embeds by it. */
export async function startLocalModel({ name, folder }: LocalModel) {
  const settings = {
    QUIRE_EMBEDDER: 'local',
    QUIRE_EMBEDDING_MODEL: name,
    QUIRE_MODELS_DIR: folder,
    QUIRE_MODELS_PORT: String(await freePort()),
    QUIRE_MODELS_THREADS: String(availableParallelism()),
  };
  const env = { ...inheritedEnvironment(), ...settings, QUIRE_LOG_LEVEL: 'warn' };
  const process = startProcess('models/main.js', [], { env, execArgv: [] });
  return { settings, stop: () => process.kill('SIGTERM') };
}
