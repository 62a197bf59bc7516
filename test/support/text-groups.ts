import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin/embedder.js';
import type { ChunkText } from '../../src/shared/chunks/fields.js';
import { FIRST_VECTORS } from '../../src/shared/data-set/stored-vectors.js';
import { generationId, type DocumentRecord } from '../../src/shared/document.js';
import { documentTags } from '../../src/shared/documents/record-fields.js';
import { createRecords, type Records } from '../../src/shared/documents/records.js';
import { createTurns, type Turns } from '../../src/shared/fair-scheduling/turns.js';
import { createEmbedding, type Embedding } from '../../src/shared/models/embedding.js';
import type { WorkerMetrics } from '../../src/shared/observability/worker-metrics.js';
import type { Jobs } from '../../src/shared/queues/jobs.js';
import type { Redis } from '../../src/shared/redis/client.js';
import { keys, queueKeys } from '../../src/shared/redis/keys.js';
import { shortSourceKey } from '../../src/shared/storage/sources.js';
import { embedPieces } from '../../src/workers/ingestion/embed-pieces.js';
import { createIngestGroup } from '../../src/workers/ingestion/group-job.js';
import { createIngestShort } from '../../src/workers/ingestion/ingest-short.js';
import { parseAndChunk } from '../../src/workers/parse/parse-and-chunk.js';
import { makeContent, makeDocument, makeOperation } from './documents.js';
import { statisticsDifferences } from './recount-statistics.js';

const bird = (n: number) => `The ${['heron', 'kite', 'stork'][n % 3] ?? ''} number ${String(n)} of the reeds`;
export const birds = (count: number) => Array.from({ length: count }, (_, n) => bird(n));
export const idsOf = (documents: readonly DocumentRecord[]) => documents.map(({ id }) => id);
/** The limits of a step that publishes texts. */
export const LIMITS = { chunks: 64, bytes: 2 ** 20, terms: 2_000 };

interface Options {
  readonly seen?: Redis;
  readonly records?: Records;
  readonly chunkText?: (text: string) => Promise<readonly ChunkText[]>;
  /** The tokens of a chunk. */
  readonly chunkSize?: number;
  readonly limits?: typeof LIMITS;
  readonly isFirst?: boolean;
  readonly turns?: Pick<Turns, 'run'>;
  readonly requireMemory?: () => Promise<void>;
  readonly embedding?: Embedding;
  readonly metrics?: Pick<WorkerMetrics, 'add'>;
  /** Happens before the chunks of a text are embedded. */
  readonly meanwhile?: (text: string) => unknown;
}

const { signal } = new AbortController();
const unseen = { add: () => undefined };
const builtin = createEmbedding(createBuiltinEmbedder(), { maxWaitMilliseconds: 0 });

const cut =
  (size: number): NonNullable<Options['chunkText']> =>
  async (text) => {
    const chunk = { size, overlap: size / 8 };
    return (await parseAndChunk({ format: 'text', source: { text }, chunk })).chunks;
  };

/** Ingests short texts as a worker does. */
export function openIngestShort(jobs: Jobs, redis: Redis, options: Options = {}) {
  const { records = createRecords(redis), limits = LIMITS, meanwhile = () => null } = options;
  const { requireMemory = () => Promise.resolve() } = options;
  const { embedding = builtin, metrics = unseen, chunkSize = 512, chunkText = cut(chunkSize) } = options;
  const parts = { embedding, metrics, checkDimensions: () => Promise.resolve() };
  return createIngestShort({
    redis,
    records,
    jobs,
    metrics,
    logger: { warn: () => undefined },
    limits,
    embeddedAtOnce: 8,
    requireMemory,
    chunkText,
    embedPieces: async (pieces, aborting) => {
      await meanwhile(pieces[0]?.text ?? '');
      return embedPieces(parts, pieces, aborting);
    },
  });
}

/** The content of a document that is a short text, with its source. */
export function shortContent(of: { readonly documentId: string; readonly version: number }, text: string) {
  const source = { storageKey: shortSourceKey(of), bytes: Buffer.from(text) };
  return {
    source,
    content: makeContent({ storageKey: source.storageKey, sizeBytes: source.bytes.length }),
  };
}

/** Groups of short texts of one owner in a Redis. */
export function textGroups({ redis, jobs }: { readonly redis: Redis; readonly jobs: Jobs }) {
  const records = createRecords(redis);
  return {
    /** Stores new texts in a group, as the API does. */
    store: async (texts: readonly string[]): Promise<DocumentRecord[]> => {
      const made = texts.map((text) => {
        const id = randomUUID();
        const { source, content: pending } = shortContent({ documentId: id, version: 1 }, text);
        const operation = makeOperation({ metadata: { document_id: id } });
        return { record: makeDocument({ id, pending, operation }), source, group: 'of-the-test' };
      });
      expect(await records.createMany(made)).toEqual(made.map(() => null));
      return made.map(({ record }) => record);
    },
    /** Does the work of a worker on a group. */
    run: (ids: readonly string[], options: Options = {}) => {
      const { seen = redis, isFirst = true, turns = createTurns(3) } = options;
      const ingestShort = openIngestShort(jobs, seen, options);
      const ingest = createIngestGroup({ records: createRecords(seen), jobs, turns, ingestShort });
      return ingest({ documentIds: ids, callerId: 'owner', requestId: 'request' }, { signal, isFirst });
    },
    /** Does the work of a worker on a text that has a job of its own. */
    ingestAlone: ({ id: documentId, version, attempt }: DocumentRecord, options: Options = {}) => {
      const ingestShort = openIngestShort(jobs, options.seen ?? redis, options);
      return ingestShort([{ documentId, version, attempt }], { signal, inTurn: (work) => work() });
    },
    /** The documents that have a job of their own. */
    alone: async (): Promise<string[]> => {
      const found = await redis.zRange(queueKeys.prioritizedJobs('ingestion-quick'), 0, -1);
      return found.map((id) => id.replace(/^ingest-(.*)-1-1$/, '$1'));
    },
    expectPublished: async (documents: readonly DocumentRecord[], texts: readonly string[]) => {
      for (const [i, { id }] of documents.entries()) {
        const record = await records.read(id);
        const generation = record && generationId(record);
        const published = { generation, chunkCount: 1 };
        expect(record).toMatchObject({ status: 'completed', pending: null, operation: null, published });
        if (generation == null || !record) throw new Error('not published');
        const chunk = await redis.hGetAll(keys.chunk(generation, 0));
        expect(chunk).toMatchObject({ content: texts[i], tags: documentTags(record) });
        expect(chunk).toHaveProperty(FIRST_VECTORS.field);
        expect(chunk).toHaveProperty('words');
        expect(await redis.hGet(keys.document(id), 'tags')).toBe(documentTags(record));
      }
      expect(await statisticsDifferences(redis)).toEqual([]);
    },
  };
}
