import { generationId } from '../../src/shared/document.js';
import { fail, finishRetag, publish, startAttempt } from '../../src/shared/documents/transitions.js';
import type { FailureCode } from '../../src/shared/errors.js';
import { packTerms } from '../../src/index/scoring/packed-terms.js';
import type { DocumentApi } from './document-api.js';
import { until } from './until.js';

type Data = Pick<DocumentApi, 'records' | 'chunks'>;

async function begin({ records }: Data, documentId: string) {
  const record = await records.read(documentId);
  if (!record) throw new Error('no such document');
  const fence = { documentId, version: record.version, attempt: record.attempt };
  const started = await records.update(documentId, (each) => startAttempt(each, fence));
  const revision = started.record?.revision ?? 0;
  return { fence, generation: generationId(record), revision };
}

/** Does the work of workers on a queued document whose text falls into `texts`, each of three tokens. */
export async function playIngest(data: Data, documentId: string, texts: readonly string[]): Promise<void> {
  const { records, chunks } = data;
  const { fence, generation, revision } = await begin(data, documentId);
  const pieces = texts.map((text, number) => ({
    text,
    tokenCount: 3,
    overlap: 0,
    hash: String(number),
    like: null,
  }));
  const terms = packTerms({ length: 0, counts: new Map() });
  const vectors = texts.map((_, number) => ({ number, vector: Float32Array.of(1, 0, 0, 0), terms }));
  for (let first = 0; first < texts.length; first += 500) {
    const batch = {
      documentId,
      generation,
      first,
      chunks: pieces.slice(first, first + 500),
      tags: '',
      named: '',
    };
    await chunks.writeTexts(batch, revision);
    await chunks.writeVectors(generation, vectors.slice(first, first + 500));
  }
  const counts = { chunks: texts.length, tokens: texts.length * 3 };
  await chunks.close(generation, counts);
  await records.update(documentId, (record) =>
    publish(record, { ...fence, chunkCount: counts.chunks, tokenCount: counts.tokens }),
  );
}

export async function playFailure(data: Data, documentId: string, code: FailureCode): Promise<void> {
  const { fence } = await begin(data, documentId);
  const failure = { code, message: `it is ${code}`, stage: 'parsing' };
  await data.records.update(documentId, (record) => fail(record, { ...fence, failure }));
}

export async function playRetag({ records }: Data, documentId: string): Promise<void> {
  const mark = (await records.read(documentId))?.retag ?? 0;
  await records.update(documentId, (record) => finishRetag(record, mark));
}

/** The id of the document whose ingest waits now, the only one that is queued. */
export async function queuedDocument({ jobs }: Pick<DocumentApi, 'jobs'>): Promise<string> {
  let id = '';
  await until(async () => {
    const lanes = (['ingestion-quick', 'ingestion'] as const).map((lane) => jobs.queue(lane));
    const waiting = await Promise.all(lanes.map((lane) => lane.getJobs(['prioritized'], 0, 0, false)));
    const [job] = waiting.flat();
    const data: unknown = job?.data;
    if (typeof data === 'object' && data !== null && 'documentId' in data) id = String(data.documentId);
    return id !== '';
  });
  return id;
}
