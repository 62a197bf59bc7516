import { accessGroupOf } from '../../access/access-tags.js';
import { at } from '../../at.js';
import { callerOf } from '../../document.js';
import { toError } from '../../errors.js';
import { defineFrequentScript, type Redis } from '../../redis/client.js';
import { keys, toMember } from '../../redis/keys.js';
import { nextOwnTurn } from '../../tools/time-slices.js';
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
import { commitNewScript, commitChange, commitRequest, refusalOf, type CommitParts } from './commit.js';

/**
 * The size of one step, which takes Redis some milliseconds: at most this many records, and no further one after this many
 * bytes.
 */
const RECORDS_AT_ONCE = 32;
const BYTES_AT_ONCE = 256 * 1024;
/** Steps on their way to Redis at once: enough that it never waits. More would only wait before it, and others behind them. */
const STEPS_UNDER_WAY = 4;
/** After this time other requests have their turn. */
const SLICE_MILLISECONDS = 4;

/** The way in which records of a kind are written, several in a step. */
interface Way<Write> {
  readonly prepare: (created: NewRecord) => Write;
  readonly bytesOf: (write: Write) => number;
  readonly send: (writes: readonly Write[]) => Promise<Done[]>;
}

/** The result of a record in a step for several: its answer, or the error of the step. */
type Done = number | undefined | Error;

/**
 * Writes new records of one owner, with one reservation, several in each step. Each of them is written wholly or not at all.
 * @returns the error of each record, or null where it was written; with an error, it may have been written all the same
 */
export async function commitNew(
  parts: CommitParts,
  created: readonly NewRecord[],
): Promise<(Error | null)[]> {
  const done = await commitTogether(parts, created);
  const errors: (Error | null)[] = [];
  // One after the other, since each may have lists of thousands of users, which take many commands.
  for (const [i, each] of created.entries()) errors.push(await commitAlone(parts, each, done[i]));
  return errors;
}

/** Writes records that may share steps. The answer of a record that needs a step of its own is left out. */
function commitTogether(parts: CommitParts, created: readonly NewRecord[]): Promise<Done[]> {
  if (areShort(created)) return commitSteps(shortWay(parts), created);
  // One alone shares its step with nothing.
  return created.length === 1 ? Promise.resolve([]) : commitSteps(anyWay(parts), created);
}

/** Writes records in steps; a few of them are under way at once. Never rejects. */
async function commitSteps<Write>(way: Way<Write>, created: readonly NewRecord[]): Promise<Done[]> {
  const steps: Promise<Done[]>[] = [];
  for (let first = 0; first < created.length;) {
    if (first > 0) await nextOwnTurn();
    await steps.at(-STEPS_UNDER_WAY);
    const step = prepareStep(way, created, first);
    steps.push(sendStep(way, step));
    first += step.length;
  }
  return (await Promise.all(steps)).flat();
}

/** Prepares records for one step, from `first` on. */
function prepareStep<Write>(
  { prepare, bytesOf }: Way<Write>,
  created: readonly NewRecord[],
  first: number,
): Write[] {
  const step: Write[] = [];
  const start = performance.now();
  let bytes = 0;
  for (const each of created.slice(first, first + RECORDS_AT_ONCE)) {
    if (bytes > BYTES_AT_ONCE || performance.now() - start > SLICE_MILLISECONDS) break;
    const write = prepare(each);
    bytes += bytesOf(write);
    step.push(write);
  }
  return step;
}

/** Never rejects. */
async function sendStep<Write>({ send }: Way<Write>, step: readonly Write[]): Promise<Done[]> {
  try {
    const done = await send(step);
    return step.map((_, i) => done[i]);
  } catch (thrown) {
    return step.map(() => toError(thrown));
  }
}

/** Writes short texts to which nothing is bound. */
const shortWay = ({ redis, quotas }: CommitParts): Way<ShortWrite> => ({
  prepare: shortWrite,
  bytesOf: ({ bytes }) => bytes,
  send: (writes) => commitShort(redis, writes, quotas),
});

/** All others, by the script that writes single records. */
const anyWay = ({ redis, vectors, quotas }: CommitParts): Way<ReturnType<typeof commitRequest>> => ({
  prepare: (created) => commitRequest(created.record.id, null, { change: created, vectors, quotas }),
  bytesOf: (request) => request.arguments.reduce((sum, argument) => sum + argument.length, 0),
  send: (requests) =>
    commitNewScript.run(redis, {
      keys: [...requests.map(({ keys }) => at(keys, 0)), ...at(requests, 0).keys.slice(1)],
      arguments: [
        String(requests.length),
        ...requests.flatMap((each) => [String(each.arguments.length), ...each.arguments]),
      ],
    }),
});

/** Writes a record that needs a step of its own, such as one whose access group is not known yet. Never rejects. */
async function commitAlone(
  parts: CommitParts,
  created: NewRecord,
  doneTogether: Done,
): Promise<Error | null> {
  if (doneTogether === 1) return null;
  if (doneTogether instanceof Error) return doneTogether;
  const refusal = doneTogether === undefined ? null : refusalOf(doneTogether, parts.quotas);
  if (refusal) return refusal;
  try {
    const done = await commitChange(parts, created.record.id, null, created);
    return done === 1 ? null : new Error('a document with this id exists');
  } catch (thrown) {
    return toError(thrown);
  }
}

/** The data to write for one of several new short texts. */
interface ShortWrite {
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
 * Tells whether new records can be written by `commitShortScript`: short texts with few readers, of one owner and one caller,
 * to which nothing is bound, such as a reservation.
 */
function areShort(created: readonly NewRecord[]): boolean {
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

function shortWrite({ record, source, group }: NewRecord): ShortWrite {
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
function commitShort(redis: Redis, writes: readonly ShortWrite[], quotas: Quotas): Promise<number[]> {
  const { ownerId, callerId, fields } = at(writes, 0);
  const shared = [...fields].filter(([name, value]) =>
    writes.every((each) => each.fields.get(name) === value),
  );
  const sharedNames = new Set(shared.map(([name]) => name));
  return commitShortScript.run(redis, {
    keys: [
      ...SHORT_KEYS,
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

const SHORT_KEYS = [
  keys.sequence,
  keys.changes,
  keys.unfinished,
  keys.ingests,
  keys.ingestsByCaller,
] as const;

/**
 * Does what the commit script does for each of these records, with one command for all of them where Redis has one, and
 * sends the common values once. KEYS: the keys that are named first, and the records'. ARGV: the time, the caller, the quotas, the
 * number of fields and values that all records have and these; and for each record its id, the member of its content, the
 * amounts it is counted with, the number of its own fields and values, and these.
 */
const commitShortScript = defineFrequentScript<number[]>(`${OWNED_FUNCTIONS}
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
