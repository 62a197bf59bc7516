import { contentBytes, type DocumentRecord } from '../document.js';
import { IngestError, OverQuotaError, QUOTAS, type Quota } from '../errors.js';
import type { Redis } from '../redis/client.js';
import { keys, toMember } from '../redis/keys.js';
import { formerOwner, type Change } from './change.js';
import { ANSWER } from './commit/answers.js';

/*
 * The totals of owners: documents, bytes of sources, and chunks. A hash for each owner holds the sums. The hash of a record
 * notes the amounts it was counted with, so that whatever changes a record counts the difference in the same step, and
 * nothing is counted twice or forgotten, however often it is tried.
 */

/** The amount of each that an owner, or a document, has. */
export type Owned = Readonly<Record<Quota, number>>;

/** The amounts that an owner may have; null for no bound. */
export type Quotas = Readonly<Record<Quota, number | null>>;

export const NO_QUOTAS: Quotas = { documents: null, bytes: null, chunks: null };

/** The field beside those of a record that notes the amounts it was counted with. */
export const OWNED_FIELD = 'owned';

const NOTHING: Owned = { documents: 0, bytes: 0, chunks: 0 };

/**
 * Returns the amounts of a document, whatever its status: a document whose ingest failed or was cancelled is kept, with its
 * source, until it is deleted. The larger one of new content and the content that it is to replace counts.
 */
export function ownedWith({ published, pending }: DocumentRecord): Owned {
  return {
    documents: 1,
    bytes: Math.max(contentBytes(published), contentBytes(pending)),
    chunks: published?.chunkCount ?? 0,
  };
}

/** Writes the amounts as the scripts read them. */
export const writeOwned = (owned: Owned): string => QUOTAS.map((quota) => String(owned[quota])).join(':');

/** Returns the fields of `change` that the two parts below read. */
export function ownedFields(before: DocumentRecord | null, change: Change, quotas: Quotas) {
  // Whoever is given a document had nothing of it.
  const had = before && formerOwner(before, change) === null ? ownedWith(before) : NOTHING;
  const has = change.record ? ownedWith(change.record) : NOTHING;
  return {
    owned: writeOwned(has),
    most: mostWhileGrowing(had, has, quotas),
  };
}

/**
 * Returns the quotas that hold for a change, in their order, with -1 for none: only a growing amount can pass one. A
 * document that is begun will have chunks, so that one must be free.
 */
export function mostWhileGrowing(had: Owned, has: Owned, quotas: Quotas): number[] {
  return QUOTAS.map((quota) => {
    const most = quotas[quota];
    if (most === null) return -1;
    if (has[quota] > had[quota]) return most;
    return quota === 'chunks' && has.documents > had.documents ? Math.max(0, most - 1) : -1;
  });
}

/** The error that a commit script's answer stands for; null for other answers. */
export function overQuota(done: number, quotas: Quotas): OverQuotaError | null {
  const quota = QUOTAS[ANSWER.overQuota - done - 1];
  return quota === undefined ? null : new OverQuotaError(quota, quotas[quota] ?? 0);
}

export const OWNED_FUNCTIONS = `
local quotas = {${QUOTAS.map((quota) => `'${quota}'`).join(', ')}}
local function differenceOf(noted, counted)
  local pattern, difference = '^(%d+):(%d+):(%d+)$', {}
  local before, after = {string.match(noted or '', pattern)}, {string.match(counted, pattern)}
  for i = 1, #quotas do difference[i] = tonumber(after[i]) - (tonumber(before[i]) or 0) end
  return difference
end
local function addOwned(owned, totals, difference)
  for i, quota in ipairs(quotas) do
    if difference[i] ~= 0 then
      local by = string.format('%.0f', difference[i])
      if redis.call('HINCRBY', owned, quota, by) == 0 then redis.call('HDEL', owned, quota) end
      redis.call('HINCRBY', totals, quota, by)
    end
  end
end
-- The answer for the first quota that would be passed; nil where none would.
local function overQuota(owned, totals, difference, most)
  for i, quota in ipairs(quotas) do
    if most[i] >= 0 and (tonumber(redis.call('HGET', owned, quota)) or 0) + difference[i] > most[i] then
      redis.call('HINCRBY', totals, 'refused:' .. quota, 1)
      return ${String(ANSWER.overQuota)} - i
    end
  end
end
`;

/**
 * Expects the locals `change`, `record`, `owned` and `ownedTotals`, and the functions above; and `formerOwned`, the amounts of
 * who was the owner, in a list that is empty for most.
 */
export const CHECK_QUOTAS = `
local noted = redis.call('HGET', record, '${OWNED_FIELD}')
local difference = differenceOf(not formerOwned[1] and noted, change.owned)
local over = overQuota(owned, ownedTotals, difference, change.most)
if over then return over end
`;

export const COUNT_OWNED = `
addOwned(owned, ownedTotals, difference)
if formerOwned[1] then addOwned(formerOwned[1], ownedTotals, differenceOf(noted, '${writeOwned(NOTHING)}')) end
if not change.removed and noted ~= change.owned then redis.call('HSET', record, '${OWNED_FIELD}', change.owned) end
`;

/** An amount in Redis. One that was never counted is 0. */
const amountOf = (value: string | number | null | undefined): number => Number(value ?? 0);

/** Reads the amounts of an owner. */
export async function readOwned(redis: Redis, ownerId: string): Promise<Owned> {
  const [documents, bytes, chunks] = await redis.hmGet(keys.owned(ownerId), [...QUOTAS]);
  return { documents: amountOf(documents), bytes: amountOf(bytes), chunks: amountOf(chunks) };
}

/** Reads the amounts of all owners, and the number of refusals by each quota. */
export async function readOwnedTotals(redis: Redis): Promise<{ owned: Owned; refused: Owned }> {
  const totals = new Map(Object.entries(await redis.hGetAll(keys.ownedTotals)));
  const read = (prefix: string): Owned => ({
    documents: amountOf(totals.get(`${prefix}documents`)),
    bytes: amountOf(totals.get(`${prefix}bytes`)),
    chunks: amountOf(totals.get(`${prefix}chunks`)),
  });
  return { owned: read(''), refused: read('refused:') };
}

/**
 * Checks the quota of chunks before they are embedded. Their publication checks it again, in the step that counts them.
 * @throws IngestError
 */
export async function requireChunks(
  redis: Redis,
  { record, chunks }: { readonly record: DocumentRecord; readonly chunks: number },
  { chunks: most }: Quotas,
): Promise<void> {
  if (most === null) return;
  const more = chunks - ownedWith(record).chunks;
  if (more > 0 && (await readOwned(redis, record.ownerId)).chunks + more > most)
    throw new IngestError('too_large', TOO_MANY_CHUNKS);
}

/** The message to the owner of a document with more chunks than their quota leaves. */
export const TOO_MANY_CHUNKS = 'The document has more chunks than are left of the quota of chunks.';

/** Requires that an owner may begin a document. @throws OverQuotaError when they have all that a quota allows */
export async function requireQuotas(redis: Redis, ownerId: string, limits: Quotas): Promise<void> {
  if (QUOTAS.every((quota) => limits[quota] === null)) return;
  const owned = await readOwned(redis, ownerId);
  for (const quota of QUOTAS) {
    const most = limits[quota];
    if (most !== null && owned[quota] >= most) throw new OverQuotaError(quota, most);
  }
}

/*
 * The numbers of documents that wait to be ingested or are being ingested, in all and by caller. The counts are exact: the
 * commit script changes them in the step that writes a record (`commit/commit.ts`).
 */

/** Returns the number of unfinished ingests of all callers. */
export const countUnfinishedIngests = (redis: Redis): Promise<number> => redis.hLen(keys.ingests);

/** Returns the number of unfinished ingests of one caller. */
export async function countUnfinishedIngestsOf(redis: Redis, callerId: string): Promise<number> {
  return amountOf(await redis.zScore(keys.ingestsByCaller, toMember(callerId)));
}

/** Unfinished ingests, all counted at one moment. */
export interface UnfinishedIngests {
  readonly all: number;
  /** In the order of the callers that were asked for. */
  readonly own: readonly number[];
  /**
   * The caller whom each of the requested documents is counted for, as a member (`toMember`); null for one that is not
   * counted.
   */
  readonly countedOf: readonly (string | null)[];
}

/** Counts the unfinished ingests of all callers and of some of them, one at least, and looks some documents up there. */
export async function readUnfinishedIngests(
  redis: Redis,
  callerIds: readonly string[],
  documentIds: readonly string[],
): Promise<UnfinishedIngests> {
  const counts = redis.multi().hLen(keys.ingests).zmScore(keys.ingestsByCaller, callerIds.map(toMember));
  // HMGET takes at least one field.
  const [all, own, [, ...countedOf]] = await counts.hmGet(keys.ingests, ['', ...documentIds]).execTyped();
  return { all, own: own.map(amountOf), countedOf };
}

/** Returns the number of callers who have unfinished ingests, and how many the caller has who has the most. */
export async function countIngestingCallers(redis: Redis): Promise<{ callers: number; most: number }> {
  const [callers, [busiest]] = await Promise.all([
    redis.zCard(keys.ingestsByCaller),
    redis.zRangeWithScores(keys.ingestsByCaller, 0, 0, { REV: true }),
  ]);
  return { callers, most: amountOf(busiest?.score) };
}
