import { randomUUID } from 'node:crypto';
import { at } from '../../../shared/at.js';
import { slicesOf } from '../../../shared/batches.js';
import type { DocumentRecord } from '../../../shared/document.js';
import type { NewRecord } from '../../../shared/documents/change.js';
import type { Records } from '../../../shared/documents/records.js';
import { tracePlace, withinTraces, type TracePlace } from '../../../shared/tracing/tracing.js';
import type { RequestContext } from '../request-context.js';
import type { JobRequests } from './job-requests.js';

/** A short text that is to be stored, beside others that arrive at the same time. */
interface ShortText {
  readonly created: NewRecord;
  readonly context: Pick<RequestContext, 'callerId' | 'requestId' | 'waitSeconds'>;
  /** Called when the record is written, before a worker can know of it. */
  readonly onWritten: () => void;
}

/** Resolves when the record is written and has its job. Rejects when it is not written. */
export type StoreTogether = (text: ShortText) => Promise<void>;

interface Waiting extends ShortText {
  readonly trace: TracePlace | null;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface StoreParts {
  readonly records: Pick<Records, 'createMany' | 'read'>;
  readonly jobs: Pick<JobRequests, 'ingestAll'>;
}

/**
 * Stores new short texts. The texts of one caller that arrive together are stored in one step and with one job, as
 * databases commit in groups: while one step is under way, the texts that follow gather for the next. Nothing waits when
 * none is under way.
 */
export function createStoreTogether(parts: StoreParts): StoreTogether {
  const gathering: Gathering = new Map();
  return (text) =>
    new Promise((resolve, reject) => {
      const key = keyOf(text.context);
      const waiting = gathering.get(key);
      const each = { ...text, trace: tracePlace(), resolve, reject };
      if (waiting) waiting.push(each);
      else {
        gathering.set(key, [each]);
        void storeAll(parts, gathering, key);
      }
    });
}

/** Texts that gather for the next step, by the key of texts that may share one. There is an entry while a step is under way. */
type Gathering = Map<string, Waiting[]>;

/** Callers who wait for their documents go before all others, so that the two never share a job. */
const keyOf = ({ callerId, waitSeconds }: ShortText['context']): string =>
  `${waitSeconds === 0 ? 'patient' : 'waiting'}:${callerId}`;

/** Stores the texts of a key, group by group, until none is left. Never rejects. */
async function storeAll(parts: StoreParts, gathering: Gathering, key: string): Promise<void> {
  for (let waiting = gathering.get(key); waiting && waiting.length > 0; waiting = gathering.get(key)) {
    const texts = waiting.splice(0, MAX_GROUP);
    try {
      const traces = texts.map(({ trace }) => trace);
      await withinTraces(traces, () => storeGroup(parts, texts));
    } catch (error) {
      // Each of them hears of it, and the texts that follow are stored. Rejecting a settled promise does nothing.
      for (const { reject } of texts) reject(error);
    }
  }
  gathering.delete(key);
}

/** Rejects only when a record cannot even be prepared. */
async function storeGroup({ records, jobs }: StoreParts, texts: readonly Waiting[]): Promise<void> {
  const documents = groupShortTexts(texts.map(({ created }) => created));
  const errors = await records.createMany(documents);
  const written = await Promise.all(
    documents.map(async (document, i) => {
      const error = errors[i];
      const isThere = error == null || (await wasWritten(records, document.record)) === true;
      if (isThere) return { document, text: at(texts, i) };
      at(texts, i).reject(error);
      return null;
    }),
  );
  const stored = written.filter((each) => each !== null);
  const [first] = stored;
  if (!first) return;
  for (const { text } of stored) text.onWritten();
  await jobs.ingestAll(
    stored.map(({ document }) => document),
    first.text.context,
  );
  for (const { text } of stored) text.resolve();
}

/** A job of this many short texts occupies a worker for some tens of milliseconds. */
const MAX_GROUP = 32;

/** Puts new short texts of one caller into groups. One job ingests a group; all others get jobs of their own. */
export function groupShortTexts<Created extends NewRecord>(created: readonly Created[]): Created[] {
  const short = created.filter(({ source }) => source !== undefined);
  const groups = new Map<Created, string>();
  for (const members of slicesOf(short, MAX_GROUP)) {
    const group = randomUUID();
    if (members.length > 1) for (const each of members) groups.set(each, group);
  }
  return created.map((each) => ({ ...each, group: groups.get(each) }));
}

/**
 * Tells whether Redis has written a record although its reply was lost; null while that is unknown. Then the bytes of its
 * source stay: the sweep removes them later if no record refers to them.
 */
export async function wasWritten(
  records: Pick<Records, 'read'>,
  { id, pending: content }: DocumentRecord,
): Promise<boolean | null> {
  try {
    const found = await records.read(id);
    return [found?.pending, found?.published].some(
      (each) => each != null && each.storageKey === content?.storageKey,
    );
  } catch {
    return null;
  }
}
