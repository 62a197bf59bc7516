import type { TermStatistics } from '../../src/index/index.js';
import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin/embedder.js';
import { BATCH_SIZE, slicesOf } from '../../src/shared/batches.js';
import { createChunks } from '../../src/shared/chunks/chunks.js';
import { FIRST_VECTORS, type VectorSet } from '../../src/shared/data-set/stored-vectors.js';
import { generationId, type DocumentRecord } from '../../src/shared/document.js';
import { documentTags } from '../../src/shared/documents/record-fields.js';
import { createRecords } from '../../src/shared/documents/records.js';
import {
  cancel,
  patch,
  publish,
  remove,
  replaceContent,
  startAttempt,
  statisticsOwner,
  type Patch,
} from '../../src/shared/documents/transitions.js';
import { createEmbedding } from '../../src/shared/models/embedding.js';
import type { Index } from '../../src/shared/ports.js';
import { createRedis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import type { Ranker } from '../../src/shared/search/ranking.js';
import { createReadHits } from '../../src/shared/search/read-hits.js';
import { createSearch, type Search } from '../../src/shared/search/search.js';
import { createTermStatistics } from '../../src/shared/term-statistics/term-statistics.js';
import { analyzeQuery, analyzeText } from '../../src/shared/text/list-terms.js';
import { packTerms } from '../../src/index/scoring/packed-terms.js';
import { createCleanJob } from '../../src/workers/maintenance/clean-job.js';
import { createRetagJob } from '../../src/workers/maintenance/retag-job.js';
import { makeContent, makeDocument, makeOperation } from './documents.js';
import { rankCandidates, type RankedCandidate } from './rank-candidates.js';
import { sectionsOf } from './section-scores.js';

/** The state of a document, kept beside Redis: the truth that answers are compared with. */
export interface WorldDocument {
  readonly record: DocumentRecord;
  /** The texts of its published content; none before the first. */
  readonly texts: readonly string[];
}

export type SearchWorld = Awaited<ReturnType<typeof openSearchWorld>>;

const embedder = createBuiltinEmbedder();
interface Analysis {
  readonly vector: Float32Array;
  readonly terms: Uint8Array;
  /** By question. */
  readonly similarities: Map<string, number>;
}
const analysed = new Map<string, Analysis>();

/** Vector and terms of a document's text, made once. */
async function analyse(text: string): Promise<Analysis> {
  const known = analysed.get(text);
  if (known) return known;
  const [vector = new Float32Array()] = (await embedder.embedDocuments([text])).vectors;
  const made = { vector, terms: packTerms(analyzeText(text)), similarities: new Map<string, number>() };
  analysed.set(text, made);
  return made;
}

interface AnalysedText extends Analysis {
  /** The terms of all chunks of its section, in a list that these share. */
  readonly section: readonly Uint8Array[];
}
const analysedDocuments = new WeakMap<readonly string[], readonly AnalysedText[]>();

/** The same of all texts of a document, made once: the same few questions are asked with many filters, by several callers. */
async function analyseDocument(texts: readonly string[]): Promise<readonly AnalysedText[]> {
  const known = analysedDocuments.get(texts);
  if (known) return known;
  const made = await Promise.all(texts.map(analyse));
  const document = sectionsOf(made).flatMap((chunks) => {
    const section = chunks.map(({ terms }) => terms);
    return chunks.map(({ vector, terms, similarities }) => ({ vector, terms, similarities, section }));
  });
  analysedDocuments.set(texts, document);
  return document;
}

export const WORLD_MODEL = { model: embedder.model, dimensions: 1024 };

/** Documents with real texts, vectors and terms, by the very steps that API and workers take, and what they should be. */
export async function openSearchWorld(url: string, vectors: VectorSet = FIRST_VECTORS) {
  const redis = createRedis(url, { failFast: true, onError: () => undefined });
  await redis.connect();
  const records = createRecords(redis);
  const chunks = createChunks(redis, vectors);
  const statistics = createTermStatistics(redis);
  const readHits = createReadHits(redis);
  const clean = createCleanJob({ chunks, statistics });
  const retag = createRetagJob({ records, chunks, statistics });
  const documents = new Map<string, WorldDocument>();
  const untagged = new Set<string>();

  const current = async (id: string): Promise<DocumentRecord> => {
    const record = await records.read(id);
    if (!record) throw new Error(`no document ${id}`);
    return record;
  };
  const remember = async (id: string, texts?: readonly string[]) => {
    const record = await current(id);
    documents.set(id, { record, texts: texts ?? documents.get(id)?.texts ?? [] });
    if (record.retag > 0) untagged.add(id);
    else untagged.delete(id);
  };
  const cleanAll = async (generations: readonly string[]) => {
    for (const generation of generations) await clean(generation);
  };

  /** Opens an attempt at what is pending and writes `texts`, all or the first of them with their vectors. */
  const write = async (id: string, texts: readonly string[], embedded = texts.length) => {
    const queued = await current(id);
    const fence = { documentId: id, version: queued.version, attempt: queued.attempt };
    const started = await records.update(id, (record) => startAttempt(record, fence));
    const generation = generationId(queued);
    const tags = documentTags({ ...queued, published: queued.pending, pending: null });
    await chunks.writeTexts(
      {
        documentId: id,
        generation,
        first: 0,
        tags,
        named: '',
        chunks: texts.map((text, i) => ({ text, tokenCount: 1, overlap: 0, hash: String(i), like: null })),
      },
      started.record?.revision ?? 0,
    );
    const made = await Promise.all(texts.map(analyse));
    await chunks.writeVectors(
      generation,
      made.slice(0, embedded).map((each, number) => ({ ...each, number })),
    );
    return { generation, fence, counted: made.map(({ terms }, number) => ({ terms, number })) };
  };

  const publishTexts = async (id: string, texts: readonly string[], isCleaned: boolean) => {
    const { generation, fence, counted } = await write(id, texts);
    const counts = { chunks: texts.length, tokens: texts.length };
    await chunks.close(generation, counts);
    const { record, discarded } = await records.update(id, (each) =>
      publish(each, { ...fence, chunkCount: counts.chunks, tokenCount: counts.tokens }),
    );
    if (record) {
      const wanted = { documentId: id, revision: record.revision, owner: statisticsOwner(record) };
      for (const [batch, some] of slicesOf(counted, BATCH_SIZE).entries())
        await statistics.settle({ generation, batch, chunks: some }, wanted);
    }
    await remember(id, texts);
    if (isCleaned) await cleanAll(discarded);
  };

  return {
    redis,
    documents,
    current,
    /** Documents whose chunks do not have their tags yet. */
    get untagged(): string[] {
      return [...untagged];
    },
    create: async (changes: Partial<DocumentRecord> = {}): Promise<string> => {
      const record = makeDocument(changes);
      await records.create(record);
      await remember(record.id, []);
      return record.id;
    },
    publish: (id: string, texts: readonly string[]) => publishTexts(id, texts, true),
    /** `isCleaned`: whether the old chunks are unlinked, as a worker does some time later. */
    replace: async (id: string, texts: readonly string[], isCleaned = true): Promise<void> => {
      const content = makeContent();
      await records.update(id, (record) => replaceContent(record, { content, operation: makeOperation() }));
      await publishTexts(id, texts, isCleaned);
    },
    /** Writes whole the texts that a document that was never published is about to answer with. */
    draft: async (id: string, texts: readonly string[]): Promise<void> => {
      await write(id, texts);
    },
    /** A new version that is written in part and never published; `isCancelled`: it is known not to be. */
    abandon: async (id: string, texts: readonly string[], isCancelled: boolean): Promise<void> => {
      const content = makeContent();
      await records.update(id, (record) => replaceContent(record, { content, operation: makeOperation() }));
      await write(id, texts, Math.ceil(texts.length / 2));
      if (isCancelled) await records.update(id, cancel);
      await remember(id);
    },
    /** `isRetagged`: whether the chunks got their tags, as a worker gives them some time later. */
    patch: async (id: string, changes: Patch, isRetagged = true): Promise<void> => {
      const { record } = await records.update(id, (before) => patch(before, changes));
      if (record && isRetagged) await retag({ documentId: id, mark: record.retag });
      await remember(id);
    },
    retag: async (id: string): Promise<void> => {
      const { retag: mark } = await current(id);
      if (mark > 0) await retag({ documentId: id, mark });
      await remember(id);
    },
    remove: async (id: string, isCleaned = true): Promise<void> => {
      const { discarded } = await records.update(id, remove);
      documents.delete(id);
      if (isCleaned) await cleanAll(discarded);
    },
    createSearch: (index: Index, ranker: Ranker): Search => {
      const embedding = createEmbedding(embedder, { maxWaitMilliseconds: 0 });
      return createSearch({ index, embedding, chooseRanker: () => ranker, readHits });
    },
    /** The scores of documents: every chunk of the documents that `isWanted` lets through. */
    scores: async (
      query: string,
      {
        ranker,
        callerId,
        isWanted,
        counts = 'stored',
      }: {
        ranker: Ranker;
        callerId: string;
        isWanted: (of: WorldDocument) => boolean;
        /** The term statistics: those in Redis, which follow changes some time later, or those of what is served now. */
        counts?: 'stored' | 'served';
      },
    ): Promise<ScoredText[]> => {
      const wanted = [...documents.values()].filter(isWanted);
      const [question] = (await embedder.embedQuery(query)).vectors;
      const texts: Pick<ScoredText, 'documentId' | 'number' | 'text'>[] = [];
      const candidates: RankedCandidate[] = [];
      for (const { record, texts: its } of wanted) {
        const documentId = record.id;
        its.forEach((text, number) => texts.push({ documentId, number, text }));
        for (const { vector, terms, similarities, section } of await analyseDocument(its)) {
          const similarity = similarities.get(query) ?? innerProduct(question, vector);
          similarities.set(query, similarity);
          candidates.push({ similarity, terms, section });
        }
      }
      const asked = [...analyzeQuery(query).counts.keys()];
      const known =
        counts === 'stored'
          ? await statistics.read(callerId, asked)
          : countTerms([...documents.values()].filter(({ record }) => statisticsOwner(record) === callerId));
      const scores = rankCandidates(ranker, query, { candidates, statistics: known });
      const alone = candidates.map(({ similarity, terms }) => ({ similarity, terms }));
      const own = rankCandidates(ranker, query, { candidates: alone, statistics: known });
      return texts.map(({ documentId, number, text }, i) => ({
        documentId,
        number,
        text,
        score: scores[i] ?? 0,
        own: own[i] ?? 0,
      }));
    },
    clear: async (): Promise<void> => {
      for (const id of [...documents.keys()]) {
        const { discarded } = await records.update(id, remove);
        await cleanAll(discarded);
      }
      documents.clear();
      await cleanAll(await redis.sMembers(keys.garbage));
    },
    close: () => {
      redis.destroy();
    },
  };
}

export interface ScoredText {
  readonly documentId: string;
  readonly number: number;
  readonly text: string;
  readonly score: number;
  /** The score without what the other chunks of its section add to it. */
  readonly own: number;
}

function countTerms(documents: readonly WorldDocument[]): TermStatistics {
  const texts = documents.flatMap((each) => each.texts).map(analyzeText);
  const frequencies = new Map<number, number>();
  for (const { counts } of texts)
    for (const term of counts.keys()) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  const totalLength = texts.reduce((sum, { length }) => sum + length, 0);
  return { chunks: texts.length, totalLength, frequencies };
}

function innerProduct(a: Float32Array = new Float32Array(), b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
