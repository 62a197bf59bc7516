import { accessGroupOf } from '../../access/access.js';
import { at } from '../../at.js';
import { callerOf } from '../../document.js';
import { toError } from '../../errors.js';
import type { Redis } from '../../redis/client.js';
import { keys, toMember } from '../../redis/keys.js';
import { declareScript, type ScriptCall } from '../../redis/script.js';
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
} from '../counts.js';
import { changedFields, GROUP_FIELD } from '../record-fields.js';
import { ANSWER } from './answers.js';
import {
  commitChange,
  commitNewScript,
  commitRequest,
  commitScript,
  refusalOf,
  type CommitParts,
} from './commit.js';

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

/** The call of the script for single records, and the access groups among its keys, which come last. */
interface AnyWrite {
  readonly call: ScriptCall;
  readonly groups: readonly string[];
}

/** All others, by the script that writes single records. */
const anyWay = ({ redis, vectors, quotas }: CommitParts): Way<AnyWrite> => ({
  prepare: (created) => {
    const request = commitRequest(created.record.id, null, { change: created, vectors, quotas });
    return { call: commitScript.pack(request), groups: request.keys.accessGroups };
  },
  bytesOf: ({ call }) => call.arguments.reduce((sum, argument) => sum + argument.length, 0),
  send: (writes) => {
    const { call, groups } = at(writes, 0);
    return commitNewScript.run(redis, {
      keys: {
        // The record's own key is the first one that the script declares.
        records: writes.map((write) => at(write.call.keys, 0)),
        shared: call.keys.slice(1, call.keys.length - groups.length),
        groups: writes.flatMap((write) => write.groups),
      },
      args: {
        groupCounts: writes.map((write) => String(write.groups.length)),
        requests: writes.map((write) => write.call.arguments),
      },
    });
  },
});

/** Writes a record that needs a step of its own, such as one whose access group is not known yet. Never rejects. */
async function commitAlone(
  parts: CommitParts,
  created: NewRecord,
  doneTogether: Done,
): Promise<Error | null> {
  if (doneTogether === ANSWER.written) return null;
  if (doneTogether instanceof Error) return doneTogether;
  const refusal = doneTogether === undefined ? null : refusalOf(doneTogether, parts.quotas);
  if (refusal) return refusal;
  try {
    const done = await commitChange(parts, created.record.id, null, created);
    return done === ANSWER.written ? null : new Error('a document with this id exists');
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
      record.sourceId == null &&
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

/** Writes some of them. Answers for each as the commit script would. */
function commitShort(redis: Redis, writes: readonly ShortWrite[], quotas: Quotas): Promise<number[]> {
  const { ownerId, callerId, fields } = at(writes, 0);
  const shared = [...fields].filter(([name, value]) =>
    writes.every((each) => each.fields.get(name) === value),
  );
  const sharedNames = new Set(shared.map(([name]) => name));
  return commitShortScript.run(redis, {
    keys: {
      ...SHORT_KEYS,
      contents: keys.contentHashes(ownerId),
      owned: keys.owned(ownerId),
      records: writes.map(({ id }) => keys.document(id)),
    },
    args: {
      now: Date.now(),
      caller: toMember(callerId),
      most: mostWhileGrowing(NOTHING, ANY, quotas).map(String),
      shared: shared.flat(),
      ids: writes.map(({ id }) => id),
      contentMembers: writes.map(({ member }) => member),
      amounts: writes.map((each) => writeOwned(each.owned)),
      own: writes.map((each) => [...each.fields].filter(([name]) => !sharedNames.has(name)).flat()),
    },
  });
}

const SHORT_KEYS = {
  sequence: keys.sequence,
  changes: keys.changes,
  unfinished: keys.unfinished,
  ingests: keys.ingests,
  callers: keys.ingestsByCaller,
  ownedTotals: keys.ownedTotals,
} as const;

/**
 * Does what the commit script does for each of these records, with one command for all of them where Redis has one, and
 * sends the common fields and values once. `most` are the quotas, `contentMembers` the members of the contents, and `amounts`
 * those that the records are counted with.
 */
const commitShortScript = declareScript({
  keys: {
    sequence: 'key',
    changes: 'key',
    unfinished: 'key',
    ingests: 'key',
    callers: 'key',
    contents: 'key',
    owned: 'key',
    ownedTotals: 'key',
    records: 'keys',
  },
  args: {
    now: 'text',
    caller: 'text',
    most: 'list',
    shared: 'list',
    ids: 'list',
    contentMembers: 'list',
    amounts: 'list',
    own: 'rows',
  },
}).frequentLua<number[]>(`${OWNED_FUNCTIONS}
for i = 1, #most do most[i] = tonumber(most[i]) end
local fields, sharedSize = shared, #shared
local done, written, members, all = {}, {}, {}, {0, 0, 0}
for i, record in ipairs(records) do
  local ownFields, difference = {own()}, differenceOf(nil, amounts[i])
  for j = 1, #quotas do difference[j] = difference[j] + all[j] end
  if redis.call('HEXISTS', record, 'revision') == 1 then done[i] = ${String(ANSWER.changedMeanwhile)}
  else done[i] = overQuota(owned, ownedTotals, difference, most) or ${String(ANSWER.written)} end
  if done[i] == ${String(ANSWER.written)} then
    for j = 1, #ownFields do fields[sharedSize + j] = ownFields[j] end
    redis.call('HSET', record, unpack(fields, 1, sharedSize + #ownFields))
    all = difference
    written[#written + 1] = ids[i]
    if contentMembers[i] ~= '' then
      members[#members + 1] = '0'
      members[#members + 1] = contentMembers[i]
    end
  end
end
if #written == 0 then return done end
addOwned(owned, ownedTotals, all)
local ingesting, waiting, entries = {}, {}, {}
local last = redis.call('INCRBY', sequence, #written)
for i, id in ipairs(written) do
  ingesting[2 * i - 1], ingesting[2 * i] = id, caller
  waiting[2 * i - 1], waiting[2 * i] = now, id
  entries[2 * i - 1], entries[2 * i] = string.format('%d', last - #written + i), id
end
local begun = redis.call('HSET', ingests, unpack(ingesting))
if begun > 0 then redis.call('ZINCRBY', callers, begun, caller) end
if #members > 0 then redis.call('ZADD', contents, unpack(members)) end
redis.call('ZADD', unfinished, unpack(waiting))
redis.call('ZADD', changes, unpack(entries))
return done
`);
