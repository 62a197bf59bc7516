import { at } from '../../at.js';
import { accessGroupOf } from '../../access/access-group.js';
import { callerOf } from '../../document.js';
import { defineFrequentScript, type Redis } from '../../redis/client.js';
import { keys, toMember } from '../../redis/keys.js';
import type { NewRecord } from '../change.js';
import { contentMember } from '../content-hashes.js';
import {
  mostWhileGrowing,
  OWNED_FIELD,
  OWNED_FUNCTIONS,
  ownedWith,
  writeOwned,
  type Owned,
  type Quotas,
} from '../owned.js';
import { changedFields, GROUP_FIELD } from '../record-fields.js';

/** The data to write for one of several new short texts. */
export interface ShortWrite {
  readonly id: string;
  readonly ownerId: string;
  readonly callerId: string;
  /** The member by which the content is found; empty for content that is not to be found. */
  readonly member: string;
  readonly owned: Owned;
  readonly fields: ReadonlyMap<string, string | Buffer>;
  /** The approximate number of bytes to send. */
  readonly bytes: number;
}

/**
 * Tells whether new records can be written by the script below: short texts with few readers, of one owner and one caller,
 * to which nothing is bound, such as a reservation.
 */
export function areShort(created: readonly NewRecord[]): boolean {
  const [first] = created;
  return created.every(
    ({ record, source, onlyNewContent, reservation, lineDigest }) =>
      first !== undefined &&
      source !== undefined &&
      onlyNewContent !== true &&
      reservation === undefined &&
      lineDigest === undefined &&
      record.status === 'queued' &&
      record.pending !== null &&
      record.published === null &&
      record.retag === 0 &&
      record.ownerId === first.record.ownerId &&
      callerOf(record) === callerOf(first.record) &&
      accessGroupOf(record) === null,
  );
}

export function shortWrite({ record, source, group }: NewRecord): ShortWrite {
  const fields = new Map<string, string | Buffer>(Object.entries(changedFields(null, record)));
  if (source) fields.set(source.storageKey, source.bytes);
  if (group !== undefined) fields.set(GROUP_FIELD, group);
  const owned = ownedWith(record);
  fields.set(OWNED_FIELD, writeOwned(owned));
  let bytes = 0;
  for (const value of fields.values()) bytes += value.length;
  return {
    id: record.id,
    ownerId: record.ownerId,
    callerId: callerOf(record),
    member: contentMember(record) ?? '',
    owned,
    fields,
    bytes,
  };
}

const [NOTHING, ANY] = [
  { documents: 0, bytes: 0, chunks: 0 },
  { documents: 1, bytes: 1, chunks: 0 },
];

/** Writes some of them. Answers 1 for each that is written, and else as the commit script would. */
export function commitShort(redis: Redis, writes: readonly ShortWrite[], quotas: Quotas): Promise<number[]> {
  const { ownerId, callerId, fields } = at(writes, 0);
  const shared = [...fields].filter(([name, value]) =>
    writes.every((each) => each.fields.get(name) === value),
  );
  const sharedNames = new Set(shared.map(([name]) => name));
  return script.run(redis, {
    keys: [
      ...COMMON_KEYS,
      keys.contentHashes(ownerId),
      keys.owned(ownerId),
      keys.ownedTotals,
      ...writes.map(({ id }) => keys.document(id)),
    ],
    arguments: [
      String(Date.now()),
      toMember(callerId),
      ...mostWhileGrowing(NOTHING, ANY, quotas).map(String),
      String(2 * shared.length),
      ...shared.flat(),
      ...writes.flatMap((each) => {
        const own = [...each.fields].filter(([name]) => !sharedNames.has(name));
        return [each.id, each.member, writeOwned(each.owned), String(2 * own.length), ...own.flat()];
      }),
    ],
  });
}

const COMMON_KEYS = [
  keys.sequence,
  keys.changes,
  keys.unfinished,
  keys.ingests,
  keys.ingestsByCaller,
] as const;

/**
 * Does what the commit script does for each of these records, with one command for all of them where Redis has one, and
 * sends the common values once. KEYS: the keys named below, and the records'. ARGV: the time, the caller, the quotas, the
 * number of fields and values that all records have and these; and for each record its id, the member of its content, the
 * amounts it is counted with, the number of its own fields and values, and these.
 */
const script = defineFrequentScript<number[]>(`${OWNED_FUNCTIONS}
local sequence, changes, unfinished, ingests, callers = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local contents, owned, ownedTotals, records = KEYS[6], KEYS[7], KEYS[8], 8
local now, caller, most = ARGV[1], ARGV[2], {tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])}
local shared, fields, at = tonumber(ARGV[6]), {}, 7
for i = 1, shared do fields[i] = ARGV[6 + i] end
at = at + shared
local done, ids, members, all = {}, {}, {}, {0, 0, 0}
for i = 1, #KEYS - records do
  local id, member, own = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 3])
  local difference = differenceOf(nil, ARGV[at + 2])
  for j = 1, #quotas do difference[j] = difference[j] + all[j] end
  if redis.call('HEXISTS', KEYS[records + i], 'revision') == 1 then done[i] = 0
  else done[i] = overQuota(owned, ownedTotals, difference, most) or 1 end
  if done[i] == 1 then
    for j = 1, own do fields[shared + j] = ARGV[at + 3 + j] end
    redis.call('HSET', KEYS[records + i], unpack(fields, 1, shared + own))
    all = difference
    ids[#ids + 1] = id
    if member ~= '' then
      members[#members + 1] = '0'
      members[#members + 1] = member
    end
  end
  at = at + 4 + own
end
if #ids == 0 then return done end
addOwned(owned, ownedTotals, all)
local ingesting, waiting, entries = {}, {}, {}
local last = redis.call('INCRBY', sequence, #ids)
for i, id in ipairs(ids) do
  ingesting[2 * i - 1], ingesting[2 * i] = id, caller
  waiting[2 * i - 1], waiting[2 * i] = now, id
  entries[2 * i - 1], entries[2 * i] = string.format('%d', last - #ids + i), id
end
local begun = redis.call('HSET', ingests, unpack(ingesting))
if begun > 0 then redis.call('ZINCRBY', callers, begun, caller) end
if #members > 0 then redis.call('ZADD', contents, unpack(members)) end
redis.call('ZADD', unfinished, unpack(waiting))
redis.call('ZADD', changes, unpack(entries))
return done
`);
