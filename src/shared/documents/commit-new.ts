import { at } from '../at.js';
import type { DocumentRecord } from '../document.js';
import { toError } from '../errors.js';
import { nextOwnTurn } from '../tools/time-slices.js';
import type { Effects } from './change.js';
import { commitChange, commitRequest, refusalOf, type CommitParts } from './commit.js';
import { commitNewScript } from './commit-script.js';

/** A record that is to be written, with the bytes of its content if that is a short text, and the group that it is in. */
export interface NewRecord extends Pick<
  Effects,
  'source' | 'group' | 'onlyNewContent' | 'reservation' | 'lineDigest'
> {
  readonly record: DocumentRecord;
}

/** What one step writes takes Redis some milliseconds: at most this many records, and no further one after so many bytes. */
const RECORDS_AT_ONCE = 32;
const BYTES_AT_ONCE = 256 * 1024;
/** Steps on their way to Redis at once: enough that it never waits. More would only wait before it, and others behind them. */
const STEPS_UNDER_WAY = 4;
/** After this time other requests have their turn. */
const SLICE_MILLISECONDS = 4;

type Prepared = { readonly created: NewRecord } & Pick<
  ReturnType<typeof commitRequest>,
  'keys' | 'arguments'
>;

/** What became of a record in a step for several: its answer, or why the step failed. */
type Done = number | undefined | Error;

/**
 * Writes new records of one owner, with one reservation, several in each step. Each of them is written wholly or not at all.
 * @returns the error of each record, or null where it was written; with an error, it may have been written all the same
 */
export async function commitNew(
  parts: CommitParts,
  created: readonly NewRecord[],
): Promise<(Error | null)[]> {
  const steps: Promise<Done[]>[] = [];
  for (let first = 0; first < created.length;) {
    if (first > 0) await nextOwnTurn();
    await steps.at(-STEPS_UNDER_WAY);
    const step = prepareStep(parts, created, first);
    steps.push(commitStep(parts, step));
    first += step.length;
  }
  const done = (await Promise.all(steps)).flat();
  const errors: (Error | null)[] = [];
  // One after the other, since each may have lists of thousands of users, which take many commands.
  for (const [i, each] of created.entries()) errors.push(await commitAlone(parts, each, done[i]));
  return errors;
}

/** Prepares records for one step, from `first` on. */
function prepareStep({ vectors }: CommitParts, created: readonly NewRecord[], first: number): Prepared[] {
  const step: Prepared[] = [];
  const start = performance.now();
  let bytes = 0;
  for (const each of created.slice(first, first + RECORDS_AT_ONCE)) {
    if (bytes > BYTES_AT_ONCE || performance.now() - start > SLICE_MILLISECONDS) break;
    const request = commitRequest(each.record.id, null, { change: each, vectors });
    bytes += request.arguments.reduce((sum, argument) => sum + argument.length, 0);
    step.push({ created: each, ...request });
  }
  return step;
}

/** Never rejects. */
async function commitStep({ redis }: CommitParts, step: readonly Prepared[]): Promise<Done[]> {
  try {
    const done = await commitNewScript.run(redis, {
      keys: [...step.map(({ keys }) => at(keys, 0)), ...at(step, 0).keys.slice(1)],
      arguments: [
        String(step.length),
        ...step.flatMap((each) => [String(each.arguments.length), ...each.arguments]),
      ],
    });
    return step.map((_, i) => done[i]);
  } catch (thrown) {
    return step.map(() => toError(thrown));
  }
}

/** Writes a record that needs a step of its own, such as one whose access group is not known yet. Never rejects. */
async function commitAlone(
  parts: CommitParts,
  created: NewRecord,
  doneTogether: Done,
): Promise<Error | null> {
  if (doneTogether === 1) return null;
  if (doneTogether instanceof Error) return doneTogether;
  const refusal = doneTogether === undefined ? null : refusalOf(doneTogether);
  if (refusal) return refusal;
  try {
    const done = await commitChange(parts, created.record.id, null, created);
    return done === 1 ? null : new Error('a document with this id exists');
  } catch (thrown) {
    return toError(thrown);
  }
}
