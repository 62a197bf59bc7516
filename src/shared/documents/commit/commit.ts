import {
  TOO_MANY_ACCESS_GROUPS,
  UNKNOWN_ACCESS_GROUP,
  REFER_TO_ACCESS_GROUPS,
  REQUIRE_ACCESS_GROUPS,
  type AccessGroups,
} from '../../access/access-groups.js';
import { accessGroupOf } from '../../access/access-tags.js';
import { WHOLE_FUNCTION } from '../../chunks/scripts.js';
import type { VectorSet } from '../../data-set/stored-vectors.js';
import { callerOf, isFinal, type DocumentRecord } from '../../document.js';
import { NotFoundError, TooManyError, UnavailableError } from '../../errors.js';
import {
  LOST_RESERVATION,
  reservationFields,
  reservationKey,
  CHECK_RESERVATION,
  MARK_RESERVATION,
  UnderWayError,
} from '../../idempotency/reservation.js';
import {
  defineFrequentScript,
  defineScript,
  EVEN_WHEN_FULL,
  SERVER_TIME,
  type Redis,
} from '../../redis/client.js';
import { keys, toMember } from '../../redis/keys.js';
import { isShortSource } from '../../storage/short-sources.js';
import { hasAttachmentWork } from '../attachments/attachment-changes.js';
import type { Change } from '../change.js';
import {
  contentFields,
  SAME_CONTENT,
  SameContentError,
  CHECK_CONTENT_IS_NEW,
  INDEX_CONTENT,
} from '../content-hashes.js';
import { overQuota, ownedFields, CHECK_QUOTAS, COUNT_OWNED, OWNED_FUNCTIONS, type Quotas } from '../owned.js';
import { changedFields, GROUP_FIELD, LINE_DIGEST } from '../record-fields.js';

/** The parts that write a change. */
export interface CommitParts {
  readonly redis: Redis;
  readonly vectors: VectorSet;
  readonly groups: Pick<AccessGroups, 'register'>;
  readonly quotas: Quotas;
}

/**
 * Writes a change of a record with its effects, in one step.
 * @returns 1 when the change is written, 0 when the record, or the record that it stands beside, has changed since `before`
 * @throws UnavailableError when the data was reindexed or is incomplete; TooManyError when access changes too often;
 *   OverQuotaError
 */
export async function commitChange(
  { redis, vectors, groups, quotas }: CommitParts,
  id: string,
  before: DocumentRecord | null,
  change: Change,
): Promise<number> {
  const request = commitRequest(id, before, { change, vectors, quotas });
  const script = change.whole ? commitWholeScript : commitScript;
  let done = await script.run(redis, request);
  while (done === UNKNOWN_ACCESS_GROUP) {
    // The group must be known to its callers before a record refers to it.
    const group = change.record ? accessGroupOf(change.record) : null;
    if (group) await groups.register(group);
    done = await script.run(redis, request);
  }
  const refusal = refusalOf(done, quotas);
  if (refusal) throw refusal;
  if (done === NOT_WHOLE && change.beside) return 0;
  if (done === NOT_WHOLE) throw new UnavailableError('a part of the generation that Redis came back without');
  if (done === TOO_MANY_ACCESS_GROUPS) throw tooManyChanges();
  if (done === REINDEXED) throw new UnavailableError('the index that these vectors are for');
  return done;
}

/** Returns the reason why a record is not written, where trying again would change nothing. */
export function refusalOf(done: number, quotas: Quotas): Error | null {
  switch (done) {
    case SAME_CONTENT:
      return new SameContentError();
    case LOST_RESERVATION:
      return new UnderWayError();
    case DELETED:
      return new NotFoundError('Document not found');
    default:
      return overQuota(done, quotas);
  }
}

/** The keys that are the same for all documents. */
const COMMON_KEYS = [
  keys.sequence,
  keys.changes,
  keys.tombstones,
  keys.unfinished,
  keys.hidden,
  keys.garbage,
  keys.usageDirty,
  keys.unreferencedObjects,
  keys.draftObjects,
  keys.schema,
  keys.ingests,
  keys.ingestsByCaller,
  keys.unreferencedAccessGroups,
  keys.accessGroupsWaiting,
] as const;

/** A change, and the settings that it is written with. */
interface Written extends Pick<CommitParts, 'vectors' | 'quotas'> {
  readonly change: Change;
}

/** The keys and arguments of the script, in the order in which it reads them; the record's own key comes first. */
export function commitRequest(
  id: string,
  before: DocumentRecord | null,
  { change, vectors, quotas }: Written,
) {
  const ownerId = ownerOf(change.record ?? before);
  const { usage = [], whole } = change;
  const fields = change.record ? changedFields(before, change.record, whole?.tags) : {};
  const values = [
    ...Object.entries(fields).flat(),
    ...(change.source ? [change.source.storageKey, change.source.bytes] : []),
    ...(change.lineDigest === undefined ? [] : [LINE_DIGEST, change.lineDigest]),
    ...(change.group === undefined ? [] : [GROUP_FIELD, change.group]),
  ];
  const payload = {
    ...commitPayload(id, before, { change, isTagged: 'tags' in fields }),
    ...ownedFields(before, change, quotas),
    vectors: vectors.field,
  };
  const touched = touchedHashes(change);
  return {
    keys: [
      keys.document(id),
      ...COMMON_KEYS,
      ...ownersKeys(ownerId, change),
      ...usage.map((event) => keys.usagePending(event.userId)),
      ...touched.map(({ key }) => key),
      ...(whole?.keys ?? []),
    ],
    arguments: [
      JSON.stringify({ ...payload, touched: touched.map(({ name }) => name), values: values.length }),
      keys.changed,
      String(usage.length),
      keys.accessGroup(''),
      ...usage.flatMap((event) => [toMember(event.userId), JSON.stringify(event)]),
      ...values,
      ...(whole?.arguments ?? []),
    ],
  };
}

const ownersKeys = (ownerId: string, { reservation }: Change) => [
  keys.contentHashes(ownerId),
  reservationKey(reservation),
  keys.owned(ownerId),
  keys.ownedTotals,
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
  const referred = change.record?.pending?.storageKey ?? '';
  const common = {
    id,
    now: String(Date.now()),
    revision: before ? String(before.revision) : '',
    // An empty text stands for a missing value, since fields of a Lua table cannot be null.
    open: change.open ?? '',
    unhide: change.unhide ?? '',
    discard: change.discard ?? [],
    objects: discardObjects.filter((key) => !isShortSource(key)),
    dropped: discardObjects.filter(isShortSource),
    ...contentFields(before, change),
    ...reservationFields(change.reservation),
    // A short source was never a draft.
    referred: isShortSource(referred) ? '' : referred,
    evenWhenFull: change.evenWhenFull ?? false,
    expected: expectedFields(change),
  };
  if (change.removed) return { ...common, removed: true, ingestOf: '', unfinished: false, settled: true };
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

/** The script's answer when searches use other vectors than the process makes, which it has not noticed yet. */
const REINDEXED = -1;

/** The script's answer when a generation lacks something, because Redis came back without its last writes. */
const NOT_WHOLE = -3;

/** The script's answer when a document that a key stands for was deleted, so that it must not come back. */
const DELETED = -7;

const BEFORE_PUBLISHING = `${SERVER_TIME}${OWNED_FUNCTIONS}
local change = cjson.decode(ARGV[1])
local record, sequence, changes, tombstones = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local unfinished, hidden, garbage, dirty, objects = KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local drafts, schema, ingests, callers = KEYS[10], KEYS[11], KEYS[12], KEYS[13]
local unreferenced, waiting, accessGroupPrefix = KEYS[14], KEYS[15], ARGV[4]
local contents, reservation, owned, ownedTotals = KEYS[16], KEYS[17], KEYS[18], KEYS[19]
local usages, generations = tonumber(ARGV[3]), {}
-- Pairs of a user and an event come before the fields and values of the record.
local values = 5 + 2 * usages
local last = values + change.values - 1
for i, generation in ipairs(change.touched) do generations[generation] = KEYS[19 + usages + i] end
if change.unhide ~= '' and (redis.call('HGET', schema, 'vectorField') or 'vector') ~= change.vectors then
  return ${String(REINDEXED)}
end
${CHECK_RESERVATION}
if change.run ~= '' and change.revision == '' and redis.call('ZSCORE', tombstones, change.id) then
  return ${String(DELETED)}
end
if (redis.call('HGET', record, 'revision') or '') ~= change.revision then return 0 end
for _, expected in ipairs(change.expected) do
  if redis.call('HGET', generations[expected[1]], expected[2]) ~= expected[3] then return ${String(NOT_WHOLE)} end
end
${CHECK_CONTENT_IS_NEW}
${CHECK_QUOTAS}
${REQUIRE_ACCESS_GROUPS}
if change.removed or change.evenWhenFull then ${EVEN_WHEN_FULL} end
if change.removed then
  redis.call('DEL', record)
  redis.call('ZADD', tombstones, change.now, change.id)
else
  if #change.dropped > 0 then redis.call('HDEL', record, unpack(change.dropped)) end
  redis.call('HSET', record, unpack(ARGV, values, last))
end
${COUNT_OWNED}
${REFER_TO_ACCESS_GROUPS}
if change.open ~= '' then
  redis.call('SADD', hidden, change.open)
  redis.call('HSET', generations[change.open], 'document', change.id)
end
`;

const FROM_PUBLISHING_ON = `
if change.unhide ~= '' then redis.call('SREM', hidden, change.unhide) end
for _, generation in ipairs(change.discard) do
  redis.call('SADD', hidden, generation)
  redis.call('SADD', garbage, generation)
  if redis.call('EXISTS', generations[generation]) == 1 then
    redis.call('HSET', generations[generation], 'discarded', '1')
  end
end
if change.referred ~= '' then redis.call('ZREM', drafts, change.referred) end
if #change.objects > 0 then
  -- The time is the server's own, which is also what decides about their removal.
  local now = string.format('%d', serverTime())
  for _, object in ipairs(change.objects) do redis.call('ZADD', objects, now, object) end
end
for i = 1, usages do
  redis.call('RPUSH', KEYS[19 + i], ARGV[4 + 2 * i])
  redis.call('SADD', dirty, ARGV[3 + 2 * i])
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
${MARK_RESERVATION}
if change.unfinished then redis.call('ZADD', unfinished, change.now, change.id)
else redis.call('ZREM', unfinished, change.id) end
redis.call('ZADD', changes, redis.call('INCR', sequence), change.id)
if change.settled then redis.call('PUBLISH', ARGV[2], change.id) end
return 1
`;

/**
 * The only way in which a record changes. It compares the revision, writes the changed fields with the short source that
 * belongs to it, appends to the change log, hides and unhides generations, and appends usage events. Its work does not grow
 * with the number of chunks.
 */
const COMMIT = `${BEFORE_PUBLISHING}${FROM_PUBLISHING_ON}`;
const commitScript = defineFrequentScript<number>(COMMIT);

/** The same, which also writes all chunks of the generation that it publishes. */
const commitWholeScript = defineFrequentScript<number>(`${WHOLE_FUNCTION}${BEFORE_PUBLISHING}
writeWhole(generations[change.unhide], 20 + usages + #change.touched, last + 1)
${FROM_PUBLISHING_ON}`);

/**
 * Does the same as the first script for several new records, which saves a script and a round trip for each of them. KEYS
 * holds their hashes and then the keys that all of them share; ARGV the number of records, and for each the number of its
 * arguments and these. Answers for each as the first would. An error says nothing of the records before the failed one.
 */
export const commitNewScript = defineScript<number[]>(`local function commit(KEYS, ARGV)
${COMMIT}end
local records, at, done = tonumber(ARGV[1]), 2, {}
for i = 1, records do
  local count = tonumber(ARGV[at])
  done[i] = commit({KEYS[i], unpack(KEYS, records + 1)}, {unpack(ARGV, at + 1, at + count)})
  at = at + count + 1
end
return done
`);
