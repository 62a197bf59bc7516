import { canRead } from '../shared/access/access.js';
import type { CacheBuild, CacheFailure, CacheMember, Caches } from '../shared/caches/caches.js';
import { readCachePassages } from '../shared/caches/passages.js';
import { failBuild, finishBuild } from '../shared/caches/transitions.js';
import type { Chunks } from '../shared/chunks/chunks.js';
import type { Records } from '../shared/documents/records.js';
import type { CacheEngine } from '../shared/ports.js';
import type { Outcome } from './worker.js';

interface BuildRequest {
  readonly ownerId: string;
  readonly name: string;
  readonly build: string;
}

interface BuildParts {
  readonly caches: Caches;
  readonly records: Records;
  readonly chunks: Chunks;
  readonly engine: CacheEngine;
}

/** Prepares a named cache's texts and puts it in the place of the one before, if it fits the model's window. */
export function createBuildCache(parts: BuildParts) {
  const { caches } = parts;
  return {
    run: (request: BuildRequest, { signal }: { signal: AbortSignal }) => buildCache(parts, request, signal),
    giveUp: (request: BuildRequest) => fail(caches, request, 'internal', 'The cache could not be built'),
  };
}

async function buildCache(parts: BuildParts, request: BuildRequest, signal: AbortSignal): Promise<Outcome> {
  const { caches, engine } = parts;
  const { ownerId, name, build } = request;
  const before = await caches.read(ownerId, name);
  const wanted = before?.building;
  if (wanted?.build !== build) return 'stale';
  const { members, passages } = await readWanted(parts, ownerId, wanted);
  if (passages.length === 0) return fail(caches, request, 'empty', 'No documents to add to cache');
  const { tokenCount } = await engine.prepare(build, passages, { signal });
  if (tokenCount > engine.contextWindow)
    return fail(caches, request, 'too_large', tooLarge(tokenCount, engine.contextWindow));
  const ready = { build, tokenCount, config: wanted.config, members };
  const { changed, cache } = await caches.update(ownerId, name, (each) => finishBuild(each, ready));
  // A twin of this job may have finished the build: what it prepared is then in use.
  if (changed && before?.ready) await engine.remove(before.ready.build);
  if (!changed && cache?.ready?.build !== build) await engine.remove(build);
  return changed ? 'done' : 'stale';
}

async function fail(
  caches: Caches,
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

/** Texts of the wanted documents; those that are published anew while they are read are read again. */
async function readWanted(parts: { records: Records; chunks: Chunks }, ownerId: string, wanted: CacheBuild) {
  for (;;) {
    const members = await currentMembers(parts.records, ownerId, wanted);
    const passages = await readCachePassages(parts, { ownerId, members });
    if (passages.length === members.length) return { members, passages };
  }
}

/** What each wanted document serves now; those that are gone or were closed to the owner meanwhile are left out. */
async function currentMembers(
  records: Records,
  ownerId: string,
  { documentIds }: CacheBuild,
): Promise<CacheMember[]> {
  const found = await records.readMany(documentIds);
  return found.flatMap((record) =>
    record?.published?.generation && canRead(ownerId, record)
      ? [
          {
            documentId: record.id,
            generation: record.published.generation,
            chunkCount: record.published.chunkCount,
          },
        ]
      : [],
  );
}
