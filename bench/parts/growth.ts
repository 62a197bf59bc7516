import { startBenchService } from '../load/bench-service.js';
import { ingestBatches } from '../load/ingest-batches.js';
import { round } from '../support/client.js';
import type { Collection } from '../support/collections.js';
import { createTexts } from '../support/texts.js';
import type { Measured } from './goals.js';

/** Texts of a step, where there are enough for two; each is a document of one chunk. */
const STEP = 10_000;
const GOAL_CHUNKS = 500_000;
/** Taken in before, so that the first step is not slow because code is still being compiled. */
const WARM_UP = 3_000;

/** The speed of ingest in batches while one caller's data grows: the first and the last 10,000 texts, and those between. */
export async function measureGrowth(scifact: Collection, chunks: number) {
  const makeText = createTexts([scifact]);
  const texts = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ id: String(at), text: makeText() }));
  const service = await startBenchService();
  const rows = [];
  try {
    await ingestBatches(service.target, texts(WARM_UP), { user: 'warm-up' });
    const step = Math.min(STEP, Math.ceil(chunks / 2));
    for (let done = 0; done < chunks; done += step) {
      const documents = texts(step);
      const { figures } = await ingestBatches(service.target, documents, { user: 'growth' });
      rows.push({ chunks: done + documents.length, documentsPerSecond: figures.documentsPerSecond });
    }
  } finally {
    await service.stop();
  }
  const shown = rows.filter((_, at) => at === 0 || at === rows.length - 1 || (at + 1) % 10 === 0);
  console.log('ingest in batches while the data grows');
  console.table(shown);
  const [first, last] = [rows[0], rows.at(-1)];
  const ratio = round((last?.documentsPerSecond ?? Number.NaN) / (first?.documentsPerSecond ?? Number.NaN));
  const isWhole = (last?.chunks ?? 0) >= GOAL_CHUNKS;
  const but = isWhole ? {} : { but: `at ${String(last?.chunks)} chunks` };
  const measured: Measured = { growth: { value: ratio, ...but } };
  return { figures: rows, measured };
}
