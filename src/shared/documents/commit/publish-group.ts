import { at } from '../../at.js';
import { wholeFields, type WholeTexts } from '../../chunks/write-chunks.js';
import type { VectorSet } from '../../data-set/stored-vectors.js';
import { laterRevision, type DocumentRecord } from '../../document.js';
import { UnavailableError } from '../../errors.js';
import type { Redis } from '../../redis/client.js';
import { keys, toMember } from '../../redis/keys.js';
import { declareScript } from '../../redis/script.js';
import { groupTerms, settledField, CHANGE_FUNCTION } from '../../term-statistics/count-steps.js';
import { isShortSource } from '../../storage/sources.js';
import type { Effects } from '../change.js';
import { OWNED_FIELD, ownedWith, writeOwned, OWNED_FUNCTIONS, type Quotas } from '../counts.js';
import { changedJsonFields, GROUP_FIELD } from '../record-fields.js';
import { ANSWER } from './answers.js';
import { DISCARD_FUNCTIONS } from './commit.js';

/** A document as it was read, and as it is to be published: nothing is left to do for it then but the work of a patch before. */
export interface PublishedText {
  readonly before: DocumentRecord;
  readonly after: DocumentRecord;
  /** The tags of the record where publishing changes them, but not who may read it. */
  readonly newTags: string | null;
  readonly effects: Pick<Effects, 'usage' | 'discard' | 'discardObjects'>;
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

/** Documents of one owner that are published together. */
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
  const rows = documents.map((document) => rowsOf(document, { vectors, owner }));
  const objects = documents.map(({ effects }) => effects.discardObjects ?? []);
  const refused = await publishGroupScript.run(redis, {
    keys: keysOf(documents, { userId, owner, ownerId: at(documents, 0).before.ownerId }),
    args: {
      vectorField: vectors.field,
      user: toMember(userId),
      channel: keys.changed,
      maxChunks: quotas.chunks ?? -1,
      chunkCount: owner === null ? 0 : terms.chunks,
      length: terms.length,
      ids: documents.map(({ before }) => before.id),
      revisions: documents.map(({ before }) => String(before.revision)),
      generations: documents.map(({ whole }) => whole.generation),
      finished: documents.filter(({ after }) => after.retag === 0).map(({ before }) => before.id),
      amounts: documents.map(({ after }) => writeOwned(ownedWith(after))),
      recordFields: rows.map(({ record }) => record),
      generationFields: rows.map(({ generation }) => generation),
      chunkFields: rows.flatMap(({ chunks }) => chunks),
      discarded: documents.flatMap(discardedBy),
      released: objects.flat().filter((key) => !isShortSource(key)),
      events: documents.flatMap(({ effects: { usage = [] } }) => usage.map((event) => JSON.stringify(event))),
      dropped: objects.map((names) => [GROUP_FIELD, ...names.filter(isShortSource)]),
      terms: owner === null ? [] : groupTerms(terms.frequencies),
    },
  });
  if (refused[0] === ANSWER.reindexed) throw new UnavailableError('the index that these vectors are for');
  return refused;
}

const discardedBy = ({ effects }: PublishedText): readonly string[] => effects.discard ?? [];

function keysOf(
  documents: readonly PublishedText[],
  { userId, owner, ownerId }: Pick<PublishedGroup, 'userId' | 'owner'> & { readonly ownerId: string },
) {
  return {
    sequence: keys.sequence,
    changes: keys.changes,
    unfinished: keys.unfinished,
    hidden: keys.hidden,
    garbage: keys.garbage,
    objects: keys.unreferencedObjects,
    dirty: keys.usageDirty,
    schema: keys.schema,
    ingests: keys.ingests,
    callers: keys.ingestsByCaller,
    statistics: keys.statistics(owner),
    pending: keys.usagePending(userId),
    owned: keys.owned(ownerId),
    ownedTotals: keys.ownedTotals,
    records: documents.map(({ before }) => keys.document(before.id)),
    hashes: documents.map(({ whole }) => keys.generation(whole.generation)),
    replaced: documents.flatMap(discardedBy).map(keys.generation),
    chunks: documents.flatMap(({ whole: { generation, chunks } }) =>
      chunks.map(({ number }) => keys.chunk(generation, number)),
    ),
  };
}

/** The fields of a record, of its generation and of its chunks. */
function rowsOf(
  { before, after, newTags, whole }: PublishedText,
  { vectors, owner }: { readonly vectors: VectorSet; readonly owner: string | null },
) {
  const changed = changedJsonFields(before, { ...after, revision: laterRevision(before.revision) });
  const { fields, rows } = wholeFields(vectors, whole);
  const counted = settledField(0, owner);
  const tagged = newTags === null ? [] : ['tags', newTags];
  return {
    record: [...Object.entries(changed).flat(), OWNED_FIELD, writeOwned(ownedWith(after)), ...tagged],
    generation: [...fields, counted.field, counted.value],
    chunks: rows,
  };
}

/**
 * Does what the commit script does when it publishes each of these documents, and writes their chunks, with one command for
 * all where Redis has one: the change log, usage events, counts of unfinished ingests and of terms, and the message to
 * waiting requests. First it looks whether all are as they were read. If one is not, it writes nothing and answers which.
 *
 * No document refers to sources or access groups anew, and their generations do not exist. Where the owner's quota is too
 * small for all of them, it answers all, and each is published as a file is. `amounts` are those that the documents are
 * counted with, `hashes` the keys of their generations, `replaced` of those that they discard; `finished` are the documents
 * without a patch whose work is not done.
 */
const publishGroupScript = declareScript({
  keys: {
    sequence: 'key',
    changes: 'key',
    unfinished: 'key',
    hidden: 'key',
    garbage: 'key',
    objects: 'key',
    dirty: 'key',
    schema: 'key',
    ingests: 'key',
    callers: 'key',
    statistics: 'key',
    pending: 'key',
    owned: 'key',
    ownedTotals: 'key',
    records: 'keys',
    hashes: 'keys',
    replaced: 'keys',
    chunks: 'keys',
  },
  args: {
    vectorField: 'text',
    user: 'text',
    channel: 'text',
    maxChunks: 'number',
    chunkCount: 'number',
    length: 'number',
    ids: 'list',
    revisions: 'list',
    generations: 'list',
    finished: 'list',
    amounts: 'list',
    discarded: 'list',
    released: 'list',
    recordFields: 'rows',
    generationFields: 'rows',
    chunkFields: 'rows',
    events: 'list',
    dropped: 'rows',
    terms: 'rows',
  },
}).frequentLua<number[]>(`${CHANGE_FUNCTION}${OWNED_FUNCTIONS}${DISCARD_FUNCTIONS}
if (redis.call('HGET', schema, 'vectorField') or 'vector') ~= vectorField then return {${String(ANSWER.reindexed)}} end
local count, refused, all, every = #ids, {}, {0, 0, 0}, {}
for i = 1, count do
  local revision, noted = unpack(redis.call('HMGET', records[i], 'revision', '${OWNED_FIELD}'))
  if revision ~= revisions[i] or redis.call('EXISTS', hashes[i]) == 1 then refused[#refused + 1] = i - 1 end
  for j, more in ipairs(differenceOf(noted, amounts[i])) do all[j] = all[j] + more end
  every[i] = i - 1
end
if #refused > 0 then return refused end
-- Only a growing amount can pass a quota.
if all[3] > 0 and overQuota(owned, ownedTotals, all, {-1, -1, maxChunks}) then return every end
addOwned(owned, ownedTotals, all)
for i = 1, count do
  redis.call('HSET', records[i], recordFields())
  redis.call('HDEL', records[i], dropped())
  redis.call('HSET', hashes[i], generationFields())
end
for _, chunk in ipairs(chunks) do redis.call('HSET', chunk, chunkFields()) end
redis.call('SREM', hidden, unpack(generations))
discard(discarded, replaced, hidden, garbage)
release(released, objects)
if #events > 0 then
  redis.call('RPUSH', pending, unpack(events))
  redis.call('SADD', dirty, user)
end
if chunkCount ~= 0 then
  redis.call('HINCRBY', statistics, 'chunks', chunkCount)
  redis.call('HINCRBY', statistics, 'length', length)
end
change(statistics, 1, terms)
local ended = {}
for _, caller in ipairs(redis.call('HMGET', ingests, unpack(ids))) do
  if caller then ended[caller] = (ended[caller] or 0) + 1 end
end
for caller, documents in pairs(ended) do
  if tonumber(redis.call('ZINCRBY', callers, -documents, caller)) <= 0 then redis.call('ZREM', callers, caller) end
end
redis.call('HDEL', ingests, unpack(ids))
if #finished > 0 then redis.call('ZREM', unfinished, unpack(finished)) end
local last, entries = redis.call('INCRBY', sequence, count), {}
for i = 1, count do
  entries[2 * i - 1], entries[2 * i] = string.format('%d', last - count + i), ids[i]
end
redis.call('ZADD', changes, unpack(entries))
redis.call('PUBLISH', channel, table.concat(ids, ','))
return {}
`);
