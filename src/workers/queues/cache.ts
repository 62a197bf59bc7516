import { principalOf } from '../../shared/access/access.js';
import type { SharedViews } from '../../shared/access/sharing.js';
import type { AuditLog } from '../../shared/audit/audit-log.js';
import { cacheDigest, MAX_DOCUMENTS } from '../../shared/audit/notes.js';
import { fenceOfCache, type CacheEngines } from '../../shared/caches/cache-engines.js';
import type {
  CacheConfig,
  CacheEngineChoice,
  CacheFailure,
  CacheMember,
  CacheRecord,
} from '../../shared/caches/cache-record.js';
import type { CacheStore } from '../../shared/caches/cache-store.js';
import { currentMembers, readCachePassages, TextsTooLongError } from '../../shared/caches/passages.js';
import { failBuild, finishBuild } from '../../shared/caches/transitions.js';
import type { Chunks } from '../../shared/chunks/chunks.js';
import type { Records } from '../../shared/documents/records.js';
import { ImpossibleError, UnavailableError } from '../../shared/errors.js';
import type { CacheEngine, Passage, PreparedCache } from '../../shared/ports.js';
import { cacheJob } from '../../shared/queues/job-kinds.js';
import type { WorkerContext } from '../context.js';
import type { Outcome } from '../lane-worker.js';
import { whileWanted } from '../while-wanted.js';
import { REASONS } from './fail-job.js';
import type { LaneService, QueueService } from './queue-service.js';

export function serveCache(context: WorkerContext): QueueService {
  const build = createBuildCache({ ...context, engines: context.cacheEngines });
  const handlers: LaneService['handlers'] = {
    build: {
      isNews: true,
      run: (job, signal) => build.run(cacheJob.parse(job.data), { signal }),
      failJob: (job, reason) => build.failJob(cacheJob.parse(job.data), REASONS[reason]),
    },
  };
  const concurrency = context.settings.workers.cacheConcurrency;
  return {
    lanes: [
      { lane: 'cache-quick', concurrency, handlers },
      { lane: 'cache', concurrency, handlers },
    ],
  };
}

interface BuildRequest {
  readonly ownerId: string;
  readonly name: string;
  readonly build: string;
}

interface BuildParts {
  readonly caches: CacheStore;
  readonly records: Records;
  readonly chunks: Chunks;
  readonly engines: CacheEngines;
  readonly sharedViews: Pick<SharedViews, 'predicateOf'>;
  readonly audit: Pick<AuditLog, 'write'> | null;
}

/** Builds a named cache and replaces its previous build, if the texts fit the context window of the model. */
function createBuildCache(parts: BuildParts) {
  const { caches } = parts;
  return {
    run: (request: BuildRequest, { signal }: { signal: AbortSignal }) => buildCache(parts, request, signal),
    failJob: (request: BuildRequest, reason: string) =>
      fail(caches, request, 'internal', `The cache could not be built${reason}`),
  };
}

async function buildCache(parts: BuildParts, request: BuildRequest, signal: AbortSignal): Promise<Outcome> {
  const { caches, engines } = parts;
  const { ownerId, name, build } = request;
  const before = await caches.read(ownerId, name);
  if (before?.building?.build !== build) return 'stale';
  const { config } = before.building;
  const choice = await orRefusal(chooseAgain(engines, { ownerId, name, config }, signal));
  if ('refusal' in choice) return fail(caches, request, 'too_large', choice.refusal);
  const engine = engines.of(choice);
  const read = await readWanted({ ...parts, engine }, { ownerId, signal }, before);
  if ('tooLarge' in read) return fail(caches, request, 'too_large', read.tooLarge);
  const { members, passages } = read;
  if (passages.length === 0 && before.building.operation !== null)
    return fail(caches, request, 'empty', 'No documents to add to cache');
  const prepared = await orRefusal(prepare(parts, { request, before, choice, passages }, signal));
  if (prepared === null) return 'stale';
  if ('refusal' in prepared) return fail(caches, request, 'too_large', prepared.refusal);
  const { tokenCount, bytes } = prepared;
  if (tokenCount > engine.contextWindow - QUESTION_TOKENS) {
    await forget(parts, request, bytes);
    return fail(caches, request, 'too_large', tooLarge(tokenCount, engine.contextWindow));
  }
  const leftOut = idsWithout(members, passages);
  const ready = { build, tokenCount, bytes, members, leftOut, config: { ...config, engine: choice } };
  const { changed, cache } = await caches.update(ownerId, name, (each) => finishBuild(each, ready));
  if (changed) writeAudit(parts, request, idsOf(passages));
  // Another run of this job may have finished the build, whose prepared state is then in use.
  if (changed && before.ready)
    await forget(parts, { ...request, build: before.ready.build }, before.ready.bytes);
  if (!changed && cache?.ready?.build !== build) await forget(parts, request, bytes);
  return changed ? 'done' : 'stale';
}

function writeAudit({ audit }: BuildParts, { ownerId, name }: BuildRequest, ids: ReadonlySet<string>): void {
  const documents = [...ids].slice(0, MAX_DOCUMENTS);
  const more = ids.size - documents.length;
  audit?.write({
    type: 'build',
    action: 'cache.built',
    caller: ownerId,
    cache: cacheDigest(name),
    documents,
    more: more === 0 ? undefined : more,
  });
}

interface Preparation {
  readonly request: BuildRequest;
  readonly before: CacheRecord;
  readonly choice: CacheEngineChoice;
  readonly passages: readonly Passage[];
}

/** Null when the cache is not wanted like this any more. */
function prepare(
  { caches, engines }: BuildParts,
  { request, before, choice, passages }: Preparation,
  signal: AbortSignal,
): Promise<PreparedCache | null> {
  // All texts of a cache may be gone when it is built anew.
  if (passages.length === 0) return Promise.resolve({ tokenCount: 0, bytes: 0 });
  const fence = fenceOfCache(choice, passages);
  const from = before.ready?.build ?? null;
  const onProgress = caches.noteProgress(request.build);
  // Every change of a cache is a change of its build.
  const isWanted = async () => (await caches.readRevision(request.ownerId, request.name)) === before.revision;
  return whileWanted({ isWanted, signal }, (whileItIs) =>
    engines.of(choice).prepare(request, { passages, fence, from }, { signal: whileItIs, onProgress }),
  );
}

const idsOf = (passages: readonly Passage[]): Set<string> =>
  new Set(passages.map(({ documentId }) => documentId));

const idsWithout = (members: readonly CacheMember[], passages: readonly Passage[]): string[] => {
  const there = idsOf(passages);
  return members.map(({ documentId }) => documentId).filter((id) => !there.has(id));
};

/** Removes the state that is kept of a build, if there is any. The sweep removes a state that cannot be removed now. */
async function forget(
  { engines }: BuildParts,
  { ownerId, name, build }: BuildRequest,
  bytes: number,
): Promise<void> {
  if (bytes === 0) return;
  await engines.forget({ ownerId, name, build }).catch((error: unknown) => {
    if (!(error instanceof UnavailableError)) throw error;
  });
}

/** The model file may have changed since, or have come or gone. A cache keeps its fence, so that its texts stay as they were read. */
async function chooseAgain(
  engines: CacheEngines,
  {
    ownerId,
    name,
    config: { engine, ggufFile },
  }: { readonly ownerId: string; readonly name: string; readonly config: CacheConfig },
  signal: AbortSignal,
): Promise<CacheEngineChoice> {
  const choice = await engines.choose(ggufFile, { ownerId, name, engine }, { signal });
  return choice.name === 'llama' && engine.name === 'llama' ? { ...choice, fence: engine.fence } : choice;
}

/** Turns a refusal into a result, since every further try would be refused, too. */
async function orRefusal<Result>(work: Promise<Result>): Promise<Result | { readonly refusal: string }> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ImpossibleError) return { refusal: error.message };
    throw error;
  }
}

async function fail(
  caches: CacheStore,
  { ownerId, name, build }: BuildRequest,
  code: CacheFailure['code'],
  message: string,
): Promise<Outcome> {
  const failure = { build, code, message };
  const { changed } = await caches.update(ownerId, name, (each) => failBuild(each, failure));
  return changed ? 'failed' : 'stale';
}

/** Kept of the window for a question and its answer: a cache that fills all of it could answer nothing. */
const QUESTION_TOKENS = 256;

function tooLarge(tokens: number, window: number): string {
  const message = `The selected documents take ${String(tokens)} tokens, the model reads ${String(window)}`;
  if (tokens > window) return message;
  return `${message}, of which ${String(QUESTION_TOKENS)} are kept for a question and its answer`;
}

/**
 * The maximum number of characters of a cache for each token of the context window. Ordinary text has four or five. Rows
 * of dashes have a hundred, and each query would read such a cache completely.
 */
const CHARACTERS_PER_TOKEN = 16;

type Wanted =
  { readonly members: CacheMember[]; readonly passages: readonly Passage[] } | { readonly tooLarge: string };

/** Reads the texts of the wanted documents, and reads them again if new versions are published in the meantime. */
async function readWanted(
  { records, chunks, engine, sharedViews }: BuildParts & { readonly engine: CacheEngine },
  { ownerId, signal }: { readonly ownerId: string; readonly signal: AbortSignal },
  { building, ready }: CacheRecord,
): Promise<Wanted> {
  const { contextWindow } = engine;
  const shared = (building ?? ready)?.config.shared;
  const findUsable = () => sharedViews.predicateOf({ principal: principalOf(ownerId), shared });
  const reader = { ownerId, findUsable };
  const maxCharacters = CHARACTERS_PER_TOKEN * contextWindow;
  if (ready && building?.operation === null) {
    const { members } = ready;
    // A changed text comes back with the next update, as for every cache.
    const texts = { ...reader, members, maxCharacters: Infinity };
    return { members, passages: await readCachePassages({ records, chunks }, texts) };
  }
  const documentIds = building?.documentIds ?? [];
  for (;;) {
    signal.throwIfAborted();
    const { members, tokenCount } = await currentMembers(records, { ...reader, documentIds });
    try {
      const passages = await readCachePassages({ records, chunks }, { ...reader, members, maxCharacters });
      if (passages.length === members.length) return { members, passages };
    } catch (error) {
      if (!(error instanceof TextsTooLongError)) throw error;
      if (tokenCount > contextWindow) return { tooLarge: tooLarge(tokenCount, contextWindow) };
      return {
        tooLarge: `The selected documents have more than ${String(maxCharacters)} characters, the model reads ${String(contextWindow)} tokens`,
      };
    }
  }
}
