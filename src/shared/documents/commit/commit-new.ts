import { at } from '../../at.js';
import { toError } from '../../errors.js';
import { nextOwnTurn } from '../../tools/time-slices.js';
import type { NewRecord } from '../change.js';
import { commitChange, commitRequest, refusalOf, type CommitParts } from './commit.js';
import { commitNewScript } from './commit-script.js';
import { areShort, commitShort, shortWrite, type ShortWrite } from './commit-short.js';

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
  const done = areShort(created)
    ? await commitSteps(shortWay(parts), created)
    : await commitSteps(anyWay(parts), created);
  const errors: (Error | null)[] = [];
  // One after the other, since each may have lists of thousands of users, which take many commands.
  for (const [i, each] of created.entries()) errors.push(await commitAlone(parts, each, done[i]));
  return errors;
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
