import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

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

/** Settings of a service that embeds with it. */
export function settingsFor({ name, folder }: LocalModel): Record<string, string> {
  return { QUIRE_EMBEDDER: 'local', QUIRE_EMBEDDING_MODEL: name, QUIRE_MODELS_DIR: folder };
}
