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

/** The ranking model that `QUIRE_BENCH_RANKING_MODEL` names, or why there is none. One process serves one folder of models. */
export function findRankingModel({ folder }: LocalModel): LocalModel | string {
  const path = process.env['QUIRE_BENCH_RANKING_MODEL'] ?? '';
  if (path === '') return 'QUIRE_BENCH_RANKING_MODEL names no model: /path/to/some-ranking-model.gguf';
  if (!existsSync(path)) return `QUIRE_BENCH_RANKING_MODEL names a file that is not there: ${path}`;
  if (resolve(dirname(path)) !== folder)
    return `QUIRE_BENCH_RANKING_MODEL must be in the folder of the other: ${folder}`;
  return { name: basename(path), folder };
}

/** With it, a service reranks by a model of that process, however long that takes. */
export const rerankingBy = ({ name }: LocalModel) => ({
  QUIRE_RERANKER: 'local',
  QUIRE_RERANKING_MODEL: name,
  QUIRE_RERANKING_DEADLINE_MILLISECONDS: '60000',
});

/** Starts the process with local models for it, and says with which settings a service embeds by it. */
export async function startLocalModel({ name, folder }: LocalModel) {
  const settings = {
    QUIRE_EMBEDDER: 'local',
    QUIRE_EMBEDDING_MODEL: name,
    QUIRE_MODELS_DIR: folder,
    QUIRE_MODELS_PORT: String(await freePort()),
    QUIRE_MODELS_THREADS: process.env['QUIRE_MODELS_THREADS'] ?? String(availableParallelism()),
  };
  const env = { ...inheritedEnvironment(), ...settings, QUIRE_LOG_LEVEL: 'warn' };
  const models = startProcess('models/main.js', [], { env, execArgv: [] });
  return { settings, stop: () => models.kill('SIGTERM') };
}
