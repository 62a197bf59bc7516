import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rename, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmbedder } from '../../src/shared/create-adapters.js';
import type { Embedder } from '../../src/shared/ports.js';
import { loadSettings } from '../../src/shared/settings/load.js';
import { startLocalModel, type LocalModel } from '../quality/local-model.js';

const BATCH = 32;
const BATCHES_BETWEEN_LINES = 300;

/** Vectors of texts, one after the other. */
export interface Vectors {
  readonly dimensions: number;
  readonly count: number;
  readonly at: (row: number) => Float32Array;
}

/** The kinds of texts: a model may embed documents and queries differently. */
type Kind = 'document' | 'query';

/**
 * Embeds texts with a local model in the process with local models. Vectors are kept in `BENCH_VECTORS`, else in a folder of
 * the system's temporary one: a run that was broken off goes on there, and the process is started only for what is missing.
 */
export function createCachedEmbedding(model: LocalModel) {
  const folder = process.env['BENCH_VECTORS'] ?? join(tmpdir(), 'quire-bench-vectors');
  let started: ReturnType<typeof startEmbedder> | null = null;
  const embedder = async () => (await (started ??= startEmbedder(model))).embedder;
  return {
    embed: async (texts: readonly string[], kind: Kind): Promise<Vectors> => {
      await mkdir(folder, { recursive: true });
      const { size } = await stat(join(model.folder, model.name));
      const digest = createHash('sha256')
        .update(JSON.stringify([model.name, size, kind, texts]))
        .digest('hex');
      const file = join(folder, `${model.name}-${kind}-${digest.slice(0, 16)}.f32`);
      if (!existsSync(file)) await write(file, { texts, kind, embedder: await embedder() });
      return readVectors(file, texts.length);
    },
    stop: async () => (await started)?.stop(),
  };
}

async function startEmbedder(model: LocalModel) {
  const { settings, stop } = await startLocalModel(model);
  const embedder = await createEmbedder(loadSettings({ ...settings, QUIRE_DEV_MODE: 'true' }), {
    onWaiting: ({ message }) => {
      console.log(message);
    },
  });
  return { embedder, stop };
}

async function write(
  file: string,
  { texts, kind, embedder }: { texts: readonly string[]; kind: Kind; embedder: Embedder },
): Promise<void> {
  const part = `${file}.part`;
  const bytesOfText = 4 * (await embedder.dimensions());
  const written = existsSync(part) ? Math.floor((await stat(part)).size / bytesOfText) : 0;
  if (written > 0) await truncate(part, written * bytesOfText);
  const embed = (batch: readonly string[]) =>
    kind === 'query' && embedder.embedQueries ? embedder.embedQueries(batch) : embedder.embedDocuments(batch);
  for (let first = written, batches = 1; first < texts.length; first += BATCH, batches += 1) {
    const { vectors } = await embed(texts.slice(first, first + BATCH));
    await appendFile(part, Buffer.concat(vectors.map(({ buffer }) => Buffer.from(buffer))));
    if (batches % BATCHES_BETWEEN_LINES === 0)
      console.log(`embedded ${String(first + BATCH)} of ${String(texts.length)}`);
  }
  await rename(part, file);
}

async function readVectors(file: string, count: number): Promise<Vectors> {
  const { buffer, byteOffset, byteLength } = await readFile(file);
  const all = new Float32Array(buffer, byteOffset, byteLength / 4);
  const dimensions = all.length / count;
  return { dimensions, count, at: (row) => all.subarray(row * dimensions, (row + 1) * dimensions) };
}
