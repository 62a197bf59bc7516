import { at } from '../../at.js';
import { withLengths } from '../../chunks/fields.js';
import { wholeFields, type WholeTexts } from '../../chunks/write-chunks.js';
import type { VectorSet } from '../../data-set/stored-vectors.js';
import { laterRevision, type DocumentRecord } from '../../document.js';
import { UnavailableError } from '../../errors.js';
import { defineFrequentScript, type Redis } from '../../redis/client.js';
import { keys, toMember } from '../../redis/keys.js';
import { groupTerms, settledField, CHANGE_FUNCTION } from '../../term-statistics/scripts.js';
import type { UsageEvent } from '../../usage/usage.js';
import { OWNED_FIELD, ownedWith, writeOwned, OWNED_FUNCTIONS, type Quotas } from '../owned.js';
import { changedJsonFields, GROUP_FIELD } from '../record-fields.js';

/** A new document as it was read, and as it is to be published. */
export interface PublishedText {
  readonly before: DocumentRecord;
  readonly after: DocumentRecord;
  /** The tags of the record where publishing changes them, but not who may read it. */
  readonly newTags: string | null;
  readonly usage: readonly UsageEvent[];
  readonly whole: WholeTexts;
}

/** The terms of all chunks of documents that are published together. */
export interface GroupTerms {
  readonly chunks: number;
  /** The occurrences of all terms in all chunks. */
  readonly length: number;
  /** For each term, how many of the chunks hold it. */
  readonly frequencies: ReadonlyMap<number, number>;
}

/** New documents of one owner that are published together. */
export interface PublishedGroup {
  readonly documents: readonly PublishedText[];
  /** The user whose usage the events are. */
  readonly userId: string;
  readonly terms: GroupTerms;
  /** The owner whose term statistics count them; null for nobody's. */
  readonly owner: string | null;
}

interface PublishParts {
  readonly redis: Redis;
  readonly vectors: VectorSet;
  readonly quotas: Quotas;
}

/** See `Records`. @throws UnavailableError when the data was reindexed */
export async function publishGroup(
  { redis, vectors, quotas }: PublishParts,
  { documents, userId, terms, owner }: PublishedGroup,
): Promise<number[]> {
  const events = documents.flatMap(({ usage }) => usage.map((event) => JSON.stringify(event)));
  const refused = await publishGroupScript.run(redis, {
    keys: keysOf(documents, { userId, owner, ownerId: at(documents, 0).before.ownerId }),
    arguments: [
      vectors.field,
      toMember(userId),
      keys.changed,
      String(documents.length),
      String(quotas.chunks ?? -1),
      ...documents.flatMap(({ before, after, whole }) => [
        before.id,
        String(before.revision),
        whole.generation,
        writeOwned(ownedWith(after)),
      ]),
      ...documents.flatMap((document) => rowsOf(document, { vectors, owner })),
      String(events.length),
      ...events,
      String(owner === null ? 0 : terms.chunks),
      String(terms.length),
      ...(owner === null ? [] : groupTerms(terms.frequencies)),
    ],
  });
  if (refused[0] === GROUP_REINDEXED) throw new UnavailableError('the index that these vectors are for');
  return refused;
}

function keysOf(
  documents: readonly PublishedText[],
  { userId, owner, ownerId }: Pick<PublishedGroup, 'userId' | 'owner'> & { readonly ownerId: string },
): string[] {
  return [
    keys.sequence,
    keys.changes,
    keys.unfinished,
    keys.hidden,
    keys.usageDirty,
    keys.schema,
    keys.ingests,
    keys.ingestsByCaller,
    keys.statistics(owner),
    keys.usagePending(userId),
    keys.owned(ownerId),
    keys.ownedTotals,
    ...documents.map(({ before }) => keys.document(before.id)),
    ...documents.map(({ whole }) => keys.generation(whole.generation)),
    ...documents.flatMap(({ whole: { generation, chunks } }) =>
      chunks.map(({ number }) => keys.chunk(generation, number)),
    ),
  ];
}

/** The fields of a record, of its generation and of its chunks, as the script reads them. */
function rowsOf(
  { before, after, newTags, whole }: PublishedText,
  { vectors, owner }: { readonly vectors: VectorSet; readonly owner: string | null },
): (string | Buffer)[] {
  const changed = changedJsonFields(before, { ...after, revision: laterRevision(before.revision) });
  const { fields, rows } = wholeFields(vectors, whole);
  const counted = settledField(0, owner);
  const tagged = newTags === null ? [] : ['tags', newTags];
  return [
    ...withLengths([
      [...Object.entries(changed).flat(), OWNED_FIELD, writeOwned(ownedWith(after)), ...tagged],
      [...fields, counted.field, counted.value],
    ]),
    String(rows.length),
    ...withLengths(rows),
  ];
}

/** The script's answer when searches use other vectors than the process makes, in place of the documents that it refuses. */
const GROUP_REINDEXED = -1;

/**
 * Does for new documents what the commit script does when it publishes each of them with its chunks, with one command for
 * all where Redis has one: the change log, usage events, counts of unfinished ingests and of terms, and the message to
 * waiting requests. First it looks whether all are as they were read. If one is not, it writes nothing and answers which.
 *
 * A new document has nothing that has to be discarded or referred to anew, its access tags stay as they are, and its
 * generation does not exist. Where the owner's quota is too small for all of them, it answers all, and each is published
 * alone. KEYS: the keys named below, and then the keys of the records, of the generations, and of all chunks. ARGV: how
 * many documents, the quota of chunks, and for each of them its id, revision, generation, and the amounts it is counted
 * with; then for each the fields of its record, the fields of its generation, and the number of its chunks with the fields
 * of each; the number of usage events and these; the chunks and their length, and the terms with their counts.
 */
const publishGroupScript = defineFrequentScript<number[]>(`${CHANGE_FUNCTION}${OWNED_FUNCTIONS}
local sequence, changes, unfinished, hidden, dirty = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local schema, ingests, callers, statistics, usage = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local owned, ownedTotals = KEYS[11], KEYS[12]
local count, first = tonumber(ARGV[4]), 12
if (redis.call('HGET', schema, 'vectorField') or 'vector') ~= ARGV[1] then return {${String(GROUP_REINDEXED)}} end
local ids, generations, refused, all, every = {}, {}, {}, {0, 0, 0}, {}
for i = 1, count do
  ids[i], generations[i] = ARGV[2 + 4 * i], ARGV[4 + 4 * i]
  local revision, noted = unpack(redis.call('HMGET', KEYS[first + i], 'revision', '${OWNED_FIELD}'))
  if revision ~= ARGV[3 + 4 * i] or redis.call('EXISTS', KEYS[first + count + i]) == 1 then
    refused[#refused + 1] = i - 1
  end
  for j, more in ipairs(differenceOf(noted, ARGV[5 + 4 * i])) do all[j] = all[j] + more end
  every[i] = i - 1
end
if #refused > 0 then return refused end
if overQuota(owned, ownedTotals, all, {-1, -1, tonumber(ARGV[5])}) then return every end
addOwned(owned, ownedTotals, all)
local at, chunk = 6 + 4 * count, first + 2 * count
local function write(key)
  local fields = tonumber(ARGV[at])
  redis.call('HSET', key, unpack(ARGV, at + 1, at + fields))
  at = at + fields + 1
end
for i = 1, count do
  write(KEYS[first + i])
  redis.call('HDEL', KEYS[first + i], '${GROUP_FIELD}')
  write(KEYS[first + count + i])
  local chunks = tonumber(ARGV[at])
  at = at + 1
  for _ = 1, chunks do
    chunk = chunk + 1
    write(KEYS[chunk])
  end
end
redis.call('SREM', hidden, unpack(generations))
local events = tonumber(ARGV[at])
if events > 0 then
  redis.call('RPUSH', usage, unpack(ARGV, at + 1, at + events))
  redis.call('SADD', dirty, ARGV[2])
end
at = at + events + 1
if ARGV[at] ~= '0' then
  redis.call('HINCRBY', statistics, 'chunks', ARGV[at])
  redis.call('HINCRBY', statistics, 'length', ARGV[at + 1])
end
change(statistics, 1, at + 2, #ARGV)
local ended = {}
for _, caller in ipairs(redis.call('HMGET', ingests, unpack(ids))) do
  if caller then ended[caller] = (ended[caller] or 0) + 1 end
end
for caller, documents in pairs(ended) do
  if tonumber(redis.call('ZINCRBY', callers, -documents, caller)) <= 0 then redis.call('ZREM', callers, caller) end
end
redis.call('HDEL', ingests, unpack(ids))
redis.call('ZREM', unfinished, unpack(ids))
local last, entries = redis.call('INCRBY', sequence, count), {}
for i = 1, count do
  entries[2 * i - 1], entries[2 * i] = string.format('%d', last - count + i), ids[i]
end
redis.call('ZADD', changes, unpack(entries))
redis.call('PUBLISH', ARGV[3], table.concat(ids, ','))
return {}
`);
