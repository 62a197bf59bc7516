import { randomUUID } from 'node:crypto';
import type { Records } from '../documents/records.js';
import type { Jobs } from '../queues/jobs.js';
import type { BuiltCache, CacheRecord } from './cache-record.js';
import type { CacheStore } from './cache-store.js';
import type { FindUsable } from './passages.js';
import { startBuild } from './transitions.js';

interface RenewalParts {
  readonly caches: CacheStore;
  readonly jobs: Pick<Jobs, 'addCacheBuild'>;
}

/**
 * Starts to build a cache anew, without texts that its owner may no longer read, unless the cache is being built already.
 * Nobody has asked for it: it is no operation of the owner's.
 * @returns the cache as it is now; null when there is none
 */
export async function startRenewal(
  { caches, jobs }: RenewalParts,
  {
    ownerId,
    name,
    requestId,
  }: { readonly ownerId: string; readonly name: string; readonly requestId: string },
): Promise<CacheRecord | null> {
  const build = randomUUID();
  const { cache, changed } = await caches.update(ownerId, name, (current) => {
    if (!current?.ready || current.building) return null;
    const { config, members } = current.ready;
    const documentIds = members.map(({ documentId }) => documentId);
    return startBuild(current, { ownerId, name, build, requestId, operation: null, config, documentIds });
  });
  if (changed && cache?.building) {
    const documents = cache.building.documentIds.length;
    await jobs.addCacheBuild({ ownerId, name, build, requestId }, { documents });
  }
  return cache;
}

/** Returns the number of texts that the cache holds. */
export const heldTexts = ({ members, leftOut }: BuiltCache): number => members.length - leftOut.length;

const RECORDS_AT_ONCE = 500;

/** Tells whether a cache holds exactly the texts that can be used now. */
export async function isUpToDate(
  records: Pick<Records, 'readMany'>,
  findUsable: FindUsable,
  { members, leftOut }: BuiltCache,
): Promise<boolean> {
  const isUsable = await findUsable();
  const without = new Set(leftOut);
  for (let first = 0; first < members.length; first += RECORDS_AT_ONCE) {
    const page = members.slice(first, first + RECORDS_AT_ONCE);
    const found = await records.readMany(page.map(({ documentId }) => documentId));
    const fits = page.every(({ documentId, generation }, i) => {
      const record = found[i];
      const isThere = record?.published?.generation === generation && isUsable(record);
      return isThere !== without.has(documentId);
    });
    if (!fits) return false;
  }
  return true;
}
