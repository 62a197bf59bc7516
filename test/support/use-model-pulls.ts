import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { writeTinyModel } from './gguf/tiny-model.js';
import { startModelServer, type ModelServer, type ServedFile } from './model-server.js';
import { runQuire } from './run-quire.js';

type Variables = Readonly<Record<string, string>>;

/** A tiny model, a server in the place of Hugging Face, and a data folder of its own for each test. */
export function useModelPulls() {
  const world = {
    /** Name of the model file, which lies in `folder`. */
    file: 'tiny-embedding.gguf',
    source: 'hf:me/tiny:tiny-embedding.gguf',
    /** The path at which the server is asked for it. */
    path: '/me/tiny/resolve/main/tiny-embedding.gguf',
    folder: '',
    data: '',
    models: '',
    body: Buffer.alloc(0),
    sha256: '',
    // @NOTE made before the first test
    server: undefined as unknown as ModelServer,
    serve: (path: string, served: Partial<ServedFile> = {}) =>
      world.server.files.set(path, { body: world.body, etag: '"one"', ...served }),
    environment: (env: Variables = {}) => ({
      QUIRE_DATA_DIR: world.data,
      HF_ENDPOINT: world.server.url,
      HF_TOKEN: '',
      ...env,
    }),
    pull: (args: readonly string[], env: Variables = {}) =>
      runQuire(['models', 'pull', ...args], world.environment(env)),
  };
  beforeAll(async () => {
    world.folder = await mkdtemp(join(tmpdir(), 'quire-pull-'));
    writeTinyModel(join(world.folder, world.file), { kind: 'embedding' });
    world.body = await readFile(join(world.folder, world.file));
    world.sha256 = createHash('sha256').update(world.body).digest('hex');
    world.server = await startModelServer();
  });
  afterAll(async () => {
    world.server.close();
    await rm(world.folder, { recursive: true });
  });
  beforeEach(async () => {
    world.server.files.clear();
    world.server.seen.length = 0;
    world.data = await mkdtemp(join(world.folder, 'data-'));
    world.models = join(world.data, 'models');
  });
  return world;
}

/** The names in a folder; none where there is no folder. */
export const filesOf = async (directory: string) => (await readdir(directory).catch(() => [])).sort();
