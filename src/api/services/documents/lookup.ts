import { hasRight, type Principal } from '../../../shared/access/access.js';
import { slicesOf } from '../../../shared/batches.js';
import { newestContent, type DocumentRecord } from '../../../shared/document.js';
import { contentMember, contentRange, documentOfMember } from '../../../shared/documents/content-hashes.js';
import type { Records } from '../../../shared/documents/records.js';
import type { Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';
import { isOfSource } from '../ingest/known-sources.js';

interface Asked {
  /** The digests of contents, or the names of sources. */
  readonly by: 'content' | 'source';
  readonly values: readonly string[];
  readonly callerId: string;
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

/** A document by its newest content. */
export interface LookedUp extends Pick<DocumentRecord, 'id' | 'version' | 'status'> {
  readonly sourceId: string | null;
  readonly sha256: string;
}

interface Lookup {
  readonly found: readonly LookedUp[];
  /** The values for which there is nothing. */
  readonly missing: readonly string[];
}

/**
 * Finds which contents or sources a caller has documents of, among documents that the caller owns and may read; one document
 * for each value, in their order.
 */
export type LookUp = (asked: Asked) => Promise<Lookup>;

interface Parts {
  readonly redis: Redis;
  readonly records: Pick<Records, 'inTurn' | 'readEach'>;
}

/** Values that Redis looks for at once, which takes it a millisecond at most. */
const AT_ONCE = 200;

export function createLookUp({ redis, records }: Parts): LookUp {
  return async ({ by, values, callerId, principal, signal }) => {
    const wanted = [...new Set(values)];
    const look = by === 'content' ? lookForContents : lookForSources;
    const candidates: (string | null)[] = [];
    for (const some of slicesOf(wanted, AT_ONCE))
      candidates.push(
        ...(await records.inTurn(callerId, () => look(redis, { ownerId: callerId, values: some }), signal)),
      );
    const named = wanted.flatMap((value, i) => {
      const id = candidates[i];
      return id == null ? [] : [{ value, id }];
    });
    const found: LookedUp[] = [];
    const known = new Set<string>();
    let next = 0;
    for await (const record of records.readEach(
      named.map(({ id }) => id),
      callerId,
    )) {
      signal.throwIfAborted();
      const value = named[next]?.value ?? '';
      next += 1;
      // The entry of a document that a process of an earlier version has changed may not fit any more.
      if (!record || !isOf(record, { by, value, ownerId: callerId })) continue;
      if (!hasRight(principal, record, 'read')) continue;
      found.push(summaryOf(record));
      known.add(value);
    }
    return { found, missing: wanted.filter((value) => !known.has(value)) };
  };
}

interface Looking {
  readonly ownerId: string;
  readonly values: readonly string[];
}

const lookForSources = (redis: Redis, { ownerId, values }: Looking): Promise<(string | null)[]> =>
  redis.hmGet(keys.sourceIds(ownerId), [...values]);

async function lookForContents(redis: Redis, { ownerId, values }: Looking): Promise<(string | null)[]> {
  const first = { BY: 'LEX', LIMIT: { offset: 0, count: 1 } } as const;
  const members = await Promise.all(
    values.map((sha256) => {
      const { from, to } = contentRange(sha256);
      return redis.zRange(keys.contentHashes(ownerId), from, to, first);
    }),
  );
  return members.map(([member]) => (member === undefined ? null : documentOfMember(member)));
}

function isOf(
  record: DocumentRecord,
  { by, value, ownerId }: Pick<Asked, 'by'> & { readonly value: string; readonly ownerId: string },
): boolean {
  if (by === 'source') return isOfSource(record, ownerId, value);
  return record.ownerId === ownerId && contentMember(record)?.startsWith(`${value}:`) === true;
}

function summaryOf(record: DocumentRecord): LookedUp {
  const { id, version, status, sourceId } = record;
  return { id, version, status, sourceId: sourceId ?? null, sha256: newestContent(record)?.sha256 ?? '' };
}
