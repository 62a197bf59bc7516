import type { CacheBuild, CacheFailure, CacheMember } from '../shared/caches/cache-record.js';
import type { CacheStore } from '../shared/caches/cache-store.js';
import { currentMembers, readCachePassages, TextsTooLongError } from '../shared/caches/passages.js';
import { failBuild, finishBuild } from '../shared/caches/transitions.js';
import type { Chunks } from '../shared/chunks/chunks.js';
import type { Records } from '../shared/documents/records.js';
import type { CacheEngine, Passage } from '../shared/ports.js';
import type { Outcome } from './lane-worker.js';

interface BuildRequest {
  readonly ownerId: string;
  readonly name: string;
  readonly build: string;
}

interface BuildParts {
  readonly caches: CacheStore;
  readonly records: Records;
  readonly chunks: Chunks;
  readonly engine: CacheEngine;
}

/** Builds a named cache and replaces its previous build, if the texts fit the context window of the model. */
export function createBuildCache(parts: BuildParts) {
  const { caches } = parts;
  return {
    run: (request: BuildRequest, { signal }: { signal: AbortSignal }) => buildCache(parts, request, signal),
    failJob: (request: BuildRequest, reason: string) =>
      fail(caches, request, 'internal', `The cache could not be built${reason}`),
  };
}

async function buildCache(parts: BuildParts, request: BuildRequest, signal: AbortSignal): Promise<Outcome> {
  const { caches, engine } = parts;
  const { ownerId, name, build } = request;
  const before = await caches.read(ownerId, name);
  const wanted = before?.building;
  if (wanted?.build !== build) return 'stale';
  const read = await readWanted(parts, { ownerId, signal }, wanted);
  if ('tooLarge' in read) return fail(caches, request, 'too_large', read.tooLarge);
  const { members, passages } = read;
  if (passages.length === 0) return fail(caches, request, 'empty', 'No documents to add to cache');
  const { tokenCount } = await engine.prepare(build, passages, { signal });
  if (tokenCount > engine.contextWindow)
    return fail(caches, request, 'too_large', tooLarge(tokenCount, engine.contextWindow));
  const ready = { build, tokenCount, config: wanted.config, members };
  const { changed, cache } = await caches.update(ownerId, name, (each) => finishBuild(each, ready));
  // Another run of this job may have finished the build, and what it prepared is then in use.
  if (changed && before?.ready) await engine.remove(before.ready.build);
  if (!changed && cache?.ready?.build !== build) await engine.remove(build);
  return changed ? 'done' : 'stale';
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

function tooLarge(tokens: number, window: number): string {
  return `The selected documents take ${String(tokens)} tokens, the model reads ${String(window)}`;
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
  { records, chunks, engine }: BuildParts,
  { ownerId, signal }: { readonly ownerId: string; readonly signal: AbortSignal },
  { documentIds }: CacheBuild,
): Promise<Wanted> {
  const { contextWindow } = engine;
  const maxCharacters = CHARACTERS_PER_TOKEN * contextWindow;
  for (;;) {
    signal.throwIfAborted();
    const { members, tokenCount } = await currentMembers(records, { ownerId, documentIds });
    try {
      const passages = await readCachePassages({ records, chunks }, { ownerId, members, maxCharacters });
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
