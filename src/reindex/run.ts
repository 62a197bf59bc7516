import { setTimeout as sleep } from 'node:timers/promises';
import { createChunks } from '../shared/chunks/chunks.js';
import {
  IncompatibleDataError,
  readDataSet,
  readReindexing,
  writeReindexing,
  type DataSet,
  type Reindexing,
} from '../shared/data-set/data-set.js';
import { UnavailableError } from '../shared/errors.js';
import { keys } from '../shared/redis/keys.js';
import { createTermStatistics } from '../shared/term-statistics/term-statistics.js';
import { ANALYSIS_VERSION } from '../shared/text/analysis/version.js';
import { removeGarbageVectors } from './clean.js';
import type { ReindexContext } from './context.js';
import { fillPage } from './fill.js';
import { flip } from './flip.js';
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
