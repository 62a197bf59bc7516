import type { Content, DocumentRecord } from '../../../shared/document.js';
import {
  endWaiting,
  isAwaited,
  waitingOf,
} from '../../../shared/documents/attachments/attachment-changes.js';
import { IngestError } from '../../../shared/errors.js';
import type { AttachmentLimits } from '../../../readers/index.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import type { Outcome } from '../../lane-worker.js';
import { NotYetError } from '../../job-turn.js';
import type { ParsedDocument } from '../../parse/parse-and-chunk.js';
import { removeAttachments } from '../../parse/take-attachments.js';
import type { ReadContent } from '../read-source.js';
import { attachmentId, makeOne, type MakeOneParts } from './make-one.js';

interface Dependencies extends MakeOneParts {
  readonly jobs: Pick<Jobs, 'addIngest' | 'addRetag'>;
  readonly readContent: ReadContent;
  readonly limitsOf: (record: DocumentRecord) => AttachmentLimits | undefined;
}

interface Run {
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** The number of earlier starts of the job. */
  readonly tries: number;
  /** After how many milliseconds its parser is given to another caller's file that waits; never without it. */
  readonly givesWayAfter?: number | undefined;
}

/**
 * Makes documents of the attachments of a published content that waited for its publication, or for room. It waits until
 * there is room for all of them, by the limits that uploads of their caller have, and then reads the file once more.
 */
export function createMakeWaiting(parts: Dependencies) {
  const { records, refuseToWait } = parts;
  return {
    makeWaiting: async (documentId: string, run: Run): Promise<Outcome> => {
      const record = await records.read(documentId);
      const content = record?.published;
      const waiting = record ? waitingOf(record) : [];
      if (!record || !content?.carried || waiting.length === 0) return 'stale';
      if (await refuseToWait(content.carried.callerId, waiting.length)) throw notYet(run);
      await makeFrom(parts, { record, content, callerId: content.carried.callerId, waiting }, run);
      const left = await records.read(documentId);
      if (left && waitingOf(left).length > 0) throw notYet(run);
      return 'done';
    },
    /** Says of all that still wait that no documents are made of them. */
    giveUp: async (documentId: string): Promise<void> => {
      const record = await records.read(documentId);
      const content = record?.published;
      if (record && content) await end(parts, record, { content, ended: [], missed: waitingOf(record) });
    },
  };
}

const FIRST_WAIT_MILLISECONDS = 1_000;
const MAX_WAIT_MILLISECONDS = 30_000;

/** The longer it waits, the less often it looks; and not at the same moments as others. */
function notYet({ tries }: Run): NotYetError {
  const wait = Math.min(MAX_WAIT_MILLISECONDS, FIRST_WAIT_MILLISECONDS * 2 ** Math.min(tries, 10));
  return new NotYetError(
    Math.round(wait * (0.5 + Math.random() / 2)),
    'there is no room for attachments yet',
  );
}

interface Waiting {
  readonly record: DocumentRecord;
  readonly content: Content;
  readonly callerId: string;
  readonly waiting: readonly string[];
}

async function makeFrom(parts: Dependencies, of: Waiting, run: Run): Promise<void> {
  const { record, content, waiting } = of;
  const read = await readAgain(parts, of, run);
  if (!read) return end(parts, record, { content, ended: [], missed: waiting });
  const ended: string[] = [];
  const found = new Set<string>();
  try {
    for (const attachment of read.attachments) {
      const id = attachmentId({ ...content, id: record.id }, attachment.position);
      if (!waiting.includes(id)) continue;
      const isWanted = (now: DocumentRecord) => isAwaited(now, content.storageKey, id);
      const { callerId } = of;
      const { requestId } = run;
      const { ocr, chunking } = content;
      const from = { attachment, id, ocr, chunking, parent: record, waitsForPublication: false };
      const fate = await makeOne(parts, { ...from, callerId, requestId, isWanted });
      if (fate.kind === 'made') ended.push(id);
      if (fate.kind !== 'refused') found.add(id);
    }
  } finally {
    await removeAttachments(read.attachments);
  }
  // The limits may be lower than when they were taken out first.
  await end(parts, record, { content, ended, missed: waiting.filter((id) => !found.has(id)) });
}

/** Null when the file cannot be read any more. */
async function readAgain(
  { readContent, limitsOf }: Dependencies,
  { record, content, callerId }: Waiting,
  { signal, givesWayAfter }: Run,
): Promise<ParsedDocument | null> {
  try {
    return await readContent(content, { callerId, signal, attachments: limitsOf(record), givesWayAfter });
  } catch (error) {
    // Another time it may take less.
    if (!(error instanceof IngestError) || error.code === 'timeout') throw error;
    return null;
  }
}

interface Ended {
  readonly content: Content;
  readonly ended: readonly string[];
  readonly missed: readonly string[];
}

async function end(
  { records, jobs }: Dependencies,
  { id }: DocumentRecord,
  { content: { storageKey }, ended, missed }: Ended,
): Promise<void> {
  const { record, changed } = await records.update(id, (each) =>
    endWaiting(each, { storageKey, ended, missed }),
  );
  if (record && changed && record.retag > 0)
    await jobs.addRetag(id, record.retag, { callerId: record.ownerId, requestId: 'attachments' });
}
