import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { batchCount, batchNumbers } from '../shared/batches.js';
import { createChunks } from '../shared/chunks/chunks.js';
import { IncompatibleDataError, UnavailableError } from '../shared/errors.js';
import {
  readDataSet,
  readReindexing,
  writeReindexing,
  type DataSet,
  type Reindexing,
} from '../shared/data-set/data-set.js';
import type { VectorSet } from '../shared/data-set/stored-vectors.js';
import type { Records } from '../shared/documents/records.js';
import type { Redis } from '../shared/redis/client.js';
import { keys } from '../shared/redis/keys.js';
import { declareScript } from '../shared/redis/script.js';
import { createTermStatistics } from '../shared/term-statistics/term-statistics.js';
import { ANALYSIS_VERSION } from '../shared/text/analysis/version.js';
import type { ReindexContext } from './context.js';
import { fillPage } from './fill.js';
import { planReindex, type Plan } from './plan.js';

/** The time that other processes may need to notice the change; they check once a second. */
const NOTICE_MILLISECONDS = 2_500;

interface Run {
  readonly data: DataSet;
  readonly plan: Plan;
  readonly dimensions: number | null;
  /** Index of the Query Engine that will be used; null when none is. */
  readonly index: string | null;
}

/**
 * Makes new vectors and a new index according to the settings while searches use the old ones, then switches searches to
 * the new ones and removes the old. After an interruption it continues when it is run again.
 */
export async function reindex(context: ReindexContext, signal: AbortSignal): Promise<void> {
  const { redis, records, target, say } = context;
  const data = await readDataSet(redis);
  if (!data) throw new IncompatibleDataError('there is no data yet: nothing to reindex');
  const unfinished = await readReindexing(redis);
  const plan = planReindex(data, target, unfinished);
  const dimensions =
    plan.source === 'embedded' ? await context.embedding.dimensions({ signal }) : data.dimensions;
  const index = dimensions === null ? null : await context.createIndex({ ...plan, dimensions });
  const isServing = plan.source === 'kept' && (index === null || index === data.index);
  if (isServing) {
    say('The data is what the settings ask for.');
  } else {
    if (unfinished && unfinished.vectorField !== plan.vectors.field) {
      await redis.sAdd(keys.garbageVectors, unfinished.vectorField);
    }
    await makeServe(context, { data, plan, dimensions, index }, signal);
    say('The new index serves. Processes with the settings of before end now and start with the new ones.');
    await sleep(NOTICE_MILLISECONDS, undefined, { signal });
  }
  if (index !== null) await context.dropOtherIndexes(index);
  await removeGarbageVectors(redis, records, signal);
  context.leftOut.sum();
}

async function makeServe(context: ReindexContext, run: Run, signal: AbortSignal): Promise<void> {
  const { redis, say } = context;
  const { data, plan, dimensions, index } = run;
  const fillNext = await createFilling(context, run, signal);
  for (;;) {
    // Before the first change the key does not exist, which counts as 0.
    const sequence = Number(await redis.get(keys.sequence));
    if (await fillNext()) continue;
    if (index !== null) {
      await context.untilIndexed(index, {
        signal,
        onProgress: (chunks) => say(`${String(chunks)} chunks are in the new index`, { often: true }),
      });
    }
    const { model, vectors } = plan;
    if (await flip(redis, { model, vectors, dimensions, index, before: data.vectors, sequence })) return;
  }
}

/** Returns a function that makes the vectors of some more documents. It resolves with false when none are left. */
async function createFilling(
  context: ReindexContext,
  { data, plan, dimensions }: Run,
  signal: AbortSignal,
): Promise<() => Promise<boolean>> {
  const { redis, records, embedding, say } = context;
  if (plan.source === 'kept') return () => Promise.resolve(false);
  const total = await redis.zCard(keys.changes);
  let state = await begin(context, plan);
  const serving = createChunks(redis, data.vectors);
  const newTerms = { records, chunks: serving, statistics: createTermStatistics(redis) };
  const parts = {
    redis,
    records,
    embedding,
    source: plan.source,
    serving,
    coming: createChunks(redis, plan.vectors),
    checkDimensions: requireDimensions(dimensions),
    newTerms: data.analysis === ANALYSIS_VERSION ? null : newTerms,
  };
  return async () => {
    try {
      const filled = await fillPage(parts, state.since, signal);
      if (filled.last === null) return false;
      state = {
        ...state,
        since: filled.last,
        documents: state.documents + filled.documents,
        chunks: state.chunks + filled.chunks,
      };
      await writeReindexing(redis, state);
      say(progressLine(state, total), { often: true });
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      await pauseFor(error, { say, signal });
    }
    return true;
  };
}

async function pauseFor(
  { message, retryAfterSeconds }: UnavailableError,
  { say, signal }: { readonly say: ReindexContext['say']; readonly signal: AbortSignal },
): Promise<void> {
  say(`${message}: trying again in ${String(retryAfterSeconds)} s`);
  await sleep(retryAfterSeconds * 1_000, undefined, { signal });
}

/** The model must return vectors of the same length as the new index has. */
const requireDimensions = (dimensions: number | null) => (found: number) => {
  if (found === dimensions) return;
  throw new Error(`the model answers vectors of ${String(found)}, before of ${String(dimensions)}`);
};

const progressLine = ({ documents, chunks }: Reindexing, total: number): string =>
  `${String(documents)} of ${String(Math.max(total, documents))} documents, ${String(chunks)} chunks`;

async function begin({ redis, say }: ReindexContext, { model, vectors }: Plan): Promise<Reindexing> {
  const unfinished = await readReindexing(redis);
  if (unfinished?.vectorField === vectors.field) {
    say(`Going on after ${String(unfinished.documents)} documents.`);
    return unfinished;
  }
  const state = {
    model,
    vectorField: vectors.field,
    vectorType: vectors.type,
    since: 0,
    documents: 0,
    chunks: 0,
  };
  await redis.del(keys.reindexing);
  await writeReindexing(redis, state);
  return state;
}

/**
 * Removes vectors that are no longer used from the published chunks; workers unlink discarded chunks. An interrupted run
 * begins again, because the name of the field stays until all its vectors are removed.
 */
async function removeGarbageVectors(
  redis: Redis,
  records: Pick<Records, 'readMany'>,
  signal: AbortSignal,
): Promise<void> {
  for (const field of await redis.sMembers(keys.garbageVectors)) {
    const chunks = createChunks(redis, { field, type: 'float32' });
    for await (const entries of redis.zScanIterator(keys.changes, { COUNT: 100 })) {
      for (const { value: id } of entries) {
        signal.throwIfAborted();
        const [record] = await records.readMany([id]);
        const { generation = null, chunkCount = 0 } = record?.published ?? {};
        if (generation === null) continue;
        for (let batch = 0; batch < batchCount(chunkCount); batch += 1) {
          await chunks.removeVectors(generation, batchNumbers(batch, chunkCount));
        }
      }
    }
    await redis.sRem(keys.garbageVectors, field);
  }
}

interface Flip {
  readonly model: string;
  readonly vectors: VectorSet;
  /** Null while there are no vectors. */
  readonly dimensions: number | null;
  /** Index of the Query Engine that will be used; null when none is. */
  readonly index: string | null;
  /** The vectors that are in use until now. */
  readonly before: VectorSet;
  /** Sequence number of the last change that has its new vectors. */
  readonly sequence: number;
}

/**
 * Switches all searches to the new vectors atomically. Resolves with false when documents changed after `sequence`.
 * @throws IncompatibleDataError when another run has switched to other vectors in the meantime
 */
export async function flip(redis: Redis, to: Flip): Promise<boolean> {
  const done = await flipScript.run(redis, {
    keys: {
      sequence: keys.sequence,
      schema: keys.schema,
      epoch: keys.epoch,
      reindexing: keys.reindexing,
      garbage: keys.garbageVectors,
    },
    args: {
      lastChange: to.sequence,
      model: to.model,
      field: to.vectors.field,
      vectorType: to.vectors.type,
      dimensions: to.dimensions,
      index: to.index,
      newEpoch: randomUUID(),
      before: to.before.field,
      analysis: ANALYSIS_VERSION,
    },
  });
  if (done === OVERTAKEN)
    throw new IncompatibleDataError('another reindexing came first: run it again if need be');
  return done === 1;
}

const OVERTAKEN = -1;

const flipScript = declareScript({
  keys: { sequence: 'key', schema: 'key', epoch: 'key', reindexing: 'key', garbage: 'key' },
  args: {
    lastChange: 'text',
    model: 'text',
    field: 'text',
    vectorType: 'text',
    dimensions: 'optional',
    index: 'optional',
    newEpoch: 'text',
    before: 'text',
    analysis: 'text',
  },
}).lua<number>(`
if (redis.call('HGET', schema, 'vectorField') or 'vector') ~= before then return ${String(OVERTAKEN)} end
if (redis.call('GET', sequence) or '0') ~= lastChange then return 0 end
redis.call('HSET', schema, 'model', model, 'vectorField', field, 'vectorType', vectorType, 'analysis', analysis)
if dimensions == '' then redis.call('HDEL', schema, 'dimensions')
else redis.call('HSET', schema, 'dimensions', dimensions) end
if index == '' then redis.call('HDEL', schema, 'index')
else redis.call('HSET', schema, 'index', index) end
redis.call('SET', epoch, newEpoch)
redis.call('DEL', reindexing)
if before ~= field then redis.call('SADD', garbage, before) end
redis.call('SREM', garbage, field)
return 1
`);
