import { at } from '../../../shared/at.js';
import type { NewRecord } from '../../../shared/documents/change.js';
import type { Records } from '../../../shared/documents/records.js';
import type { RequestContext } from '../request-context.js';
import { groupShortTexts, MAX_GROUP } from './group-short-texts.js';
import { wasWritten } from './was-written.js';
import type { JobRequests } from './job-requests.js';

/** One of several requests that store a short text at the same time. */
interface Arrival {
  readonly created: NewRecord;
  readonly context: Pick<RequestContext, 'callerId' | 'requestId' | 'waitSeconds'>;
  /** Called when the record is written, before a worker can know of it. */
  readonly onWritten: () => void;
}

/** Resolves when the record is written and has its job. Rejects when it is not written. */
export type StoreTogether = (arrival: Arrival) => Promise<void>;

interface Waiting extends Arrival {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface StoreParts {
  readonly records: Pick<Records, 'createMany' | 'read'>;
  readonly jobs: Pick<JobRequests, 'ingestAll'>;
}

/**
 * Stores new short texts, those of one caller that arrive together in one step and with one job, as databases commit in
 * groups: while one step is under way, the texts that follow gather for the next. Nothing waits when none is under way.
 */
export function createStoreTogether(parts: StoreParts): StoreTogether {
  const lines = new Map<string, Waiting[]>();
  return (arrival) =>
    new Promise((resolve, reject) => {
      const line = lineOf(arrival.context);
      const waiting = lines.get(line);
      const each = { ...arrival, resolve, reject };
      if (waiting) waiting.push(each);
      else {
        lines.set(line, [each]);
        void work(parts, lines, line);
      }
    });
}

/** Callers who wait for their documents go before those who do not, so that the two never share a job. */
const lineOf = ({ callerId, waitSeconds }: Arrival['context']): string =>
  `${waitSeconds === 0 ? 'patient' : 'waiting'}:${callerId}`;

/** Stores what waits in a line, group by group, until it is empty. Never rejects. */
async function work(parts: StoreParts, lines: Map<string, Waiting[]>, line: string): Promise<void> {
  for (let waiting = lines.get(line); waiting && waiting.length > 0; waiting = lines.get(line)) {
    const arrivals = waiting.splice(0, MAX_GROUP);
    try {
      await storeGroup(parts, arrivals);
    } catch (error) {
      // Each of them hears of it, and those that follow are stored. Rejecting what is settled does nothing.
      for (const { reject } of arrivals) reject(error);
    }
  }
  lines.delete(line);
}

/** Rejects only when a record cannot even be prepared. */
async function storeGroup({ records, jobs }: StoreParts, arrivals: readonly Waiting[]): Promise<void> {
  const documents = groupShortTexts(arrivals.map(({ created }) => created));
  const errors = await records.createMany(documents);
  const written = await Promise.all(
    documents.map(async (document, i) => {
      const error = errors[i];
      const isThere = error == null || (await wasWritten(records, document.record)) === true;
      if (isThere) return { document, arrival: at(arrivals, i) };
      at(arrivals, i).reject(error);
      return null;
    }),
  );
  const stored = written.filter((each) => each !== null);
  const [first] = stored;
  if (!first) return;
  for (const { arrival } of stored) arrival.onWritten();
  await jobs.ingestAll(
    stored.map(({ document }) => document),
    first.arrival.context,
  );
  for (const { arrival } of stored) arrival.resolve();
}
