import {
  REFER_TO_ACCESS_GROUPS,
  REQUIRE_ACCESS_GROUPS,
  type AccessGroups,
} from '../../access/access-groups.js';
import { accessGroupOf } from '../../access/access.js';
import type { VectorSet } from '../../data-set/stored-vectors.js';
import { callerOf, isFinal, type DocumentRecord } from '../../document.js';
import { NotFoundError, TooManyError, UnavailableError } from '../../errors.js';
import {
  reservationFields,
  reservationKey,
  CHECK_RESERVATION,
  MARK_RESERVATION,
  UnderWayError,
} from '../../idempotency/reservation.js';
import type { Redis } from '../../redis/client.js';
import { keys, toMember } from '../../redis/keys.js';
import { declareScript, evenWhenFull, SERVER_TIME, type Value } from '../../redis/script.js';
import { isShortSource } from '../../storage/sources.js';
import { hasAttachmentWork } from '../attachments/attachment-changes.js';
import { formerOwner, type Change } from '../change.js';
import { contentFields, SameContentError, CHECK_CONTENT_IS_NEW, INDEX_CONTENT } from '../content-hashes.js';
import {
  overQuota,
  ownedFields,
  CHECK_QUOTAS,
  COUNT_OWNED,
  OWNED_FUNCTIONS,
  type Quotas,
} from '../counts.js';
import { changedFields, GROUP_FIELD, LINE_DIGEST } from '../record-fields.js';
import { sourceFields, KnownSourceError, CHECK_SOURCE_IS_NEW, INDEX_SOURCE } from '../source-ids.js';
import { ANSWER } from './answers.js';

/** The parts that write a change. */
export interface CommitParts {
  readonly redis: Redis;
  readonly vectors: VectorSet;
  readonly groups: Pick<AccessGroups, 'register'>;
  readonly quotas: Quotas;
}

/**
 * Writes a change of a record with its effects, in one step.
 * @returns `ANSWER.written`, or `changedMeanwhile`: the record, or the record that it stands beside, is not `before` any more
 * @throws UnavailableError when the data was reindexed or is incomplete; TooManyError when access changes too often;
 *   OverQuotaError
 */
export async function commitChange(
  { redis, vectors, groups, quotas }: CommitParts,
  id: string,
  before: DocumentRecord | null,
  change: Change,
): Promise<number> {
  let heldGroups: readonly string[] = [];
  const run = () =>
    commitScript.run(redis, commitRequest(id, before, { change, vectors, quotas, heldGroups }));
  let done = await run();
  while (done === ANSWER.unknownAccessGroup || done === ANSWER.otherAccessGroups) {
    if (done === ANSWER.otherAccessGroups) heldGroups = await readHeldGroups(redis, id);
    else {
      // The group must be known to its callers before a record refers to it.
      const group = change.record ? accessGroupOf(change.record) : null;
      if (group) await groups.register(group);
    }
    done = await run();
  }
  const refusal = refusalOf(done, quotas);
  if (refusal) throw refusal;
  if (done === ANSWER.notWhole && change.beside) return ANSWER.changedMeanwhile;
  if (done === ANSWER.notWhole)
    throw new UnavailableError('a part of the generation that Redis came back without');
  if (done === ANSWER.tooManyAccessGroups) throw tooManyChanges();
  if (done === ANSWER.reindexed) throw new UnavailableError('the index that these vectors are for');
  return done;
}

/** Reads the access groups that the tags of a record's chunks may name. */
async function readHeldGroups(redis: Redis, id: string): Promise<string[]> {
  const held = (await redis.hGet(keys.document(id), 'audiences')) ?? '';
  return held.split(',').filter((group) => group !== '');
}

/** Returns the reason why a record is not written, where trying again would change nothing. */
export function refusalOf(done: number, quotas: Quotas): Error | null {
  switch (done) {
    case ANSWER.sameContent:
      return new SameContentError();
    case ANSWER.knownSource:
      return new KnownSourceError();
    case ANSWER.lostReservation:
      return new UnderWayError();
    case ANSWER.deleted:
      return new NotFoundError('Document not found');
    default:
      return overQuota(done, quotas);
  }
}

/** The keys that are the same for all documents. */
const COMMON_KEYS = {
  sequence: keys.sequence,
  changes: keys.changes,
  tombstones: keys.tombstones,
  unfinished: keys.unfinished,
  hidden: keys.hidden,
  garbage: keys.garbage,
  dirty: keys.usageDirty,
  objects: keys.unreferencedObjects,
  drafts: keys.draftObjects,
  schema: keys.schema,
  ingests: keys.ingests,
  callers: keys.ingestsByCaller,
  unreferenced: keys.unreferencedAccessGroups,
  waiting: keys.accessGroupsWaiting,
  ownedTotals: keys.ownedTotals,
} as const;

/** A change, and the settings that it is written with. */
interface Written extends Pick<CommitParts, 'vectors' | 'quotas'> {
  readonly change: Change;
  /** The access groups that the record refers to, where the script has asked for them. */
  readonly heldGroups?: readonly string[];
}

/** The keys and arguments of the script. */
export function commitRequest(
  id: string,
  before: DocumentRecord | null,
  { change, vectors, quotas, heldGroups = [] }: Written,
) {
  const ownerId = ownerOf(change.record ?? before);
  const { usage = [] } = change;
  const fields = change.record ? changedFields(before, change.record) : {};
  const payload = {
    ...commitPayload(id, before, { change, isTagged: 'tags' in fields }),
    ...ownedFields(before, change, quotas),
    vectors: vectors.field,
  };
  const touched = touchedHashes(change);
  const former = formerOwner(before, change);
  const accessGroups = [...new Set([...(payload.groups ?? []), ...heldGroups])];
  return {
    keys: {
      ...COMMON_KEYS,
      record: keys.document(id),
      contents: keys.contentHashes(ownerId),
      sources: keys.sourceIds(ownerId),
      reservation: reservationKey(change.reservation),
      owned: keys.owned(ownerId),
      pending: usage.map((event) => keys.usagePending(event.userId)),
      touched: touched.map(({ key }) => key),
      formerOwned: former === null ? [] : [keys.owned(former)],
      formerContents: former === null ? [] : [keys.contentHashes(former)],
      formerSources: former === null ? [] : [keys.sourceIds(former)],
      accessGroups: accessGroups.map(keys.accessGroup),
    },
    args: {
      json: JSON.stringify({ ...payload, touched: touched.map(({ name }) => name), accessGroups }),
      channel: keys.changed,
      users: usage.map((event) => toMember(event.userId)),
      events: usage.map((event) => JSON.stringify(event)),
      values: [...Object.entries(fields).flat(), ...valuesBeside(change)],
    },
  };
}

/** Fields and values that the hash of a record has beside its own. */
const valuesBeside = ({ source, lineDigest, group }: Change): Value[] => [
  ...(source ? [source.storageKey, source.bytes] : []),
  ...(lineDigest === undefined ? [] : [LINE_DIGEST, lineDigest]),
  ...(group === undefined ? [] : [GROUP_FIELD, group]),
];

function ownerOf(record: DocumentRecord | null): string {
  if (!record) throw new Error('there is no document to remove');
  return record.ownerId;
}

/** The hashes that the change reads or writes beside the record's own, by the names that the script has for them. */
function touchedHashes({ open, unhide, discard = [], expected = [], beside }: Change) {
  const named = [open, unhide, ...discard, ...expected.map(({ generation }) => generation)];
  const generations = [...new Set(named)].filter((generation) => generation !== undefined);
  return [
    ...generations.map((name) => ({ name, key: keys.generation(name) })),
    ...(beside ? [{ name: beside.id, key: keys.document(beside.id) }] : []),
  ];
}

/** Fields of these hashes that must hold these values. */
const expectedFields = ({ expected = [], beside }: Change) => [
  ...expected.map(({ generation, field, value }) => [generation, field, value]),
  ...(beside ? [[beside.id, 'revision', String(beside.revision)]] : []),
];

const tooManyChanges = () =>
  new TooManyError('Too many changes of access are still being made', { retryAfterSeconds: 2 });

function commitPayload(
  id: string,
  before: DocumentRecord | null,
  { change, isTagged }: { readonly change: Change; readonly isTagged: boolean },
) {
  const { discardObjects = [] } = change;
  const referred = change.record?.pending?.storageKey;
  const common = {
    id,
    now: String(Date.now()),
    revision: before ? String(before.revision) : '',
    // A missing value is a missing field of the Lua table.
    open: change.open,
    unhide: change.unhide,
    discard: change.discard ?? [],
    objects: discardObjects.filter((key) => !isShortSource(key)),
    dropped: discardObjects.filter(isShortSource),
    ...contentFields(before, change),
    ...sourceFields(before, change),
    ...reservationFields(change.reservation),
    // A short source was never a draft.
    referred: referred !== undefined && isShortSource(referred) ? undefined : referred,
    evenWhenFull: change.evenWhenFull ?? false,
    expected: expectedFields(change),
  };
  if (change.removed)
    return { ...common, removed: true, groups: null, ingestOf: '', unfinished: false, settled: true };
  return {
    ...common,
    removed: false,
    groups: accessGroupsOf(before, change.record, isTagged),
    keepsAccessGroups: change.record.retag > 0,
    // The caller whose ingest is running. The script counts it in the same step, so that the count is always exact.
    ingestOf: isFinal(change.record) ? '' : toMember(callerOf(change.record)),
    unfinished: !isFinal(change.record) || change.record.retag > 0 || hasAttachmentWork(change.record),
    // Somebody may wait for the end of an ingest or of a re-tagging.
    settled: isFinal(change.record) || (before !== null && before.retag > change.record.retag),
  };
}

/** The groups that the tags of a record, or of chunks that are being re-tagged, may name; null when they do not change. */
function accessGroupsOf(
  before: DocumentRecord | null,
  after: DocumentRecord,
  isTagged: boolean,
): string[] | null {
  if (!isTagged && before?.retag === after.retag) return null;
  const group = accessGroupOf(after);
  return group ? [group.id] : [];
}

/** Functions that note what no record refers to any more: generations, with their keys, and objects. */
export const DISCARD_FUNCTIONS = `${SERVER_TIME}
local function discard(discarded, generations, hidden, garbage)
  for i, id in ipairs(discarded) do
    redis.call('SADD', hidden, id)
    redis.call('SADD', garbage, id)
    if redis.call('EXISTS', generations[i]) == 1 then redis.call('HSET', generations[i], 'discarded', '1') end
  end
end
local function release(released, objects)
  if #released == 0 then return end
  -- The time is the server's own, which is also what decides about their removal.
  local now = string.format('%d', serverTime())
  for _, object in ipairs(released) do redis.call('ZADD', objects, now, object) end
end
`;

/**
 * The only way in which a record changes. It compares the revision, writes the changed fields with the short source that
 * belongs to it, appends to the change log, hides and unhides generations, and appends usage events. Its work does not grow
 * with the number of chunks.
 */
export const commitScript = declareScript({
  keys: {
    record: 'key',
    sequence: 'key',
    changes: 'key',
    tombstones: 'key',
    unfinished: 'key',
    hidden: 'key',
    garbage: 'key',
    dirty: 'key',
    objects: 'key',
    drafts: 'key',
    schema: 'key',
    ingests: 'key',
    callers: 'key',
    unreferenced: 'key',
    waiting: 'key',
    contents: 'key',
    sources: 'key',
    reservation: 'key',
    owned: 'key',
    ownedTotals: 'key',
    // The lists of the users whose usage the events are.
    pending: 'keys',
    touched: 'keys',
    // The counts, the contents and the sources of who was the owner.
    formerOwned: 'keys',
    formerContents: 'keys',
    formerSources: 'keys',
    accessGroups: 'keys',
  },
  args: {
    json: 'text',
    channel: 'text',
    users: 'list',
    events: 'list',
    // The fields and values of the record.
    values: 'list',
  },
}).frequentLua<number>(`${OWNED_FUNCTIONS}${DISCARD_FUNCTIONS}
local change, generations, groups = cjson.decode(json), {}, {}
for i, generation in ipairs(change.touched) do generations[generation] = touched[i] end
for i, group in ipairs(change.accessGroups) do groups[group] = accessGroups[i] end
if change.unhide and (redis.call('HGET', schema, 'vectorField') or 'vector') ~= change.vectors then
  return ${String(ANSWER.reindexed)}
end
${CHECK_RESERVATION}
if change.run and change.revision == '' and redis.call('ZSCORE', tombstones, change.id) then
  return ${String(ANSWER.deleted)}
end
if (redis.call('HGET', record, 'revision') or '') ~= change.revision then return ${String(ANSWER.changedMeanwhile)} end
for _, expected in ipairs(change.expected) do
  if redis.call('HGET', generations[expected[1]], expected[2]) ~= expected[3] then return ${String(ANSWER.notWhole)} end
end
${CHECK_SOURCE_IS_NEW}
${CHECK_CONTENT_IS_NEW}
${CHECK_QUOTAS}
${REQUIRE_ACCESS_GROUPS}
if change.removed or change.evenWhenFull then ${evenWhenFull('hash', 'record')} end
if change.removed then
  redis.call('DEL', record)
  redis.call('ZADD', tombstones, change.now, change.id)
else
  if #change.dropped > 0 then redis.call('HDEL', record, unpack(change.dropped)) end
  redis.call('HSET', record, unpack(values))
end
${COUNT_OWNED}
${REFER_TO_ACCESS_GROUPS}
if change.open then
  redis.call('SADD', hidden, change.open)
  redis.call('HSET', generations[change.open], 'document', change.id)
end
if change.unhide then redis.call('SREM', hidden, change.unhide) end
local discarded = {}
for i, generation in ipairs(change.discard) do discarded[i] = generations[generation] end
discard(change.discard, discarded, hidden, garbage)
if change.referred then redis.call('ZREM', drafts, change.referred) end
release(change.objects, objects)
for i, list in ipairs(pending) do
  redis.call('RPUSH', list, events[i])
  redis.call('SADD', dirty, users[i])
end
local ingestOf = redis.call('HGET', ingests, change.id) or ''
if ingestOf ~= change.ingestOf then
  if ingestOf ~= '' and tonumber(redis.call('ZINCRBY', callers, -1, ingestOf)) <= 0 then
    redis.call('ZREM', callers, ingestOf)
  end
  if change.ingestOf == '' then redis.call('HDEL', ingests, change.id)
  else
    redis.call('HSET', ingests, change.id, change.ingestOf)
    redis.call('ZINCRBY', callers, 1, change.ingestOf)
  end
end
${INDEX_CONTENT}
${INDEX_SOURCE}
if change.revision == '' then
  ${MARK_RESERVATION}
end
if change.unfinished then redis.call('ZADD', unfinished, change.now, change.id)
else redis.call('ZREM', unfinished, change.id) end
redis.call('ZADD', changes, redis.call('INCR', sequence), change.id)
if change.settled then redis.call('PUBLISH', channel, change.id) end
return ${String(ANSWER.written)}
`);

/**
 * Does the same as the first script for several new records, which saves a script and a round trip for each of them. `shared`
 * are all keys but the record's own and those of its access groups, which come last; a request has the arguments for a record.
 * Answers for each as the first would. An error says nothing of the records before the failed one.
 */
export const commitNewScript = declareScript({
  keys: { records: 'keys', shared: 'keys', groups: 'keys' },
  args: { groupCounts: 'list', requests: 'rows' },
}).lua<number[]>(`${commitScript.asFunction('commit')}
local done, lastGroup = {}, 0
for i, record in ipairs(records) do
  local given = {record, unpack(shared)}
  for _ = 1, tonumber(groupCounts[i]) do
    lastGroup = lastGroup + 1
    given[#given + 1] = groups[lastGroup]
  end
  done[i] = commit(given, {requests()})
end
return done
`);
