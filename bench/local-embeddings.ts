/**
 * Texts a second through `POST /v1/embeddings` of the process with local models, and its memory, with the embedding model in GGUF
 * that `QUIRE_BENCH_MODEL` names: `npx tsx bench/local-embeddings.ts`, after a build. `BENCH_TEXTS_INTO` names a folder that the
 * texts are written into, one a line, for other engines.
 */
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { processorSeconds } from '../test/support/processes.js';
import { startModels } from '../test/support/models-process.js';
import { findLocalModel, type LocalModel } from './quality/local-model.js';
import { round } from './support/client.js';
import { loadCollection, type Collection } from './support/collections.js';
import { describeMachine, residentMegabytes } from './support/machine.js';

/** Words of a text that make about 128 and 500 tokens of WordPiece, and how many such texts are embedded. */
const LENGTHS = [
  { words: 82, texts: 96 },
  { words: 320, texts: 32 },
] as const;
const THREADS = [1, 2];

const usageSchema = z.object({ usage: z.object({ prompt_tokens: z.number() }) });

function textsOf({ documents }: Collection, words: number, count: number): string[] {
  const all = documents.slice(0, 2_000).flatMap(({ text }) => text.split(/\s+/));
  return Array.from({ length: count }, (_, i) => all.slice(i * words, (i + 1) * words).join(' '));
}

async function measure({ name, folder }: LocalModel, collection: Collection, threads: number) {
  const models = await startModels({ QUIRE_MODELS_THREADS: String(threads) });
  try {
    await copyFile(join(folder, name), join(models.directory, name));
    const pid = models.process.child.pid ?? 0;
    const idleMb = residentMegabytes(pid);
    const embed = async (input: readonly string[]) => {
      const { status, body } = await models.post('/v1/embeddings', {
        model: name,
        input,
        encoding_format: 'base64',
      });
      if (status !== 200) throw new Error(`local models answered ${String(status)}`);
      return usageSchema.parse(body).usage.prompt_tokens;
    };
    const rows = [];
    for (const { words, texts: count } of LENGTHS) {
      const texts = textsOf(collection, words, count);
      const into = process.env['BENCH_TEXTS_INTO'];
      if (into !== undefined) await writeFile(join(into, `texts-${String(words)}.txt`), texts.join('\n'));
      await embed(texts.slice(0, 4));
      const cpu = await processorSeconds(pid);
      const begin = performance.now();
      const tokens = await embed(texts);
      const seconds = (performance.now() - begin) / 1_000;
      const cpuSeconds = (await processorSeconds(pid)) - cpu;
      rows.push({
        model: name,
        threads,
        tokensOfText: round(tokens / count, 0),
        textsPerSecond: round(count / seconds, 1),
        textsPerProcessorSecond: round(count / cpuSeconds, 1),
        idleMb,
        memoryMb: residentMegabytes(pid),
      });
    }
    return rows;
  } finally {
    await models.stop();
  }
}

const model = findLocalModel();
const scifact = loadCollection('scifact');
if (typeof model === 'string') console.log(`skipped: ${model}`);
else if (scifact) {
  console.table(describeMachine());
  const rows = [];
  for (const threads of THREADS) rows.push(...(await measure(model, scifact, threads)));
  console.table(rows);
}
