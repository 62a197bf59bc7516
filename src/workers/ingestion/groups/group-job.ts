import { packedLength } from '../../../index/index.js';
import type { DocumentRecord } from '../../../shared/document.js';
import type { GroupTerms } from '../../../shared/documents/commit/publish-group.js';
import type { Records } from '../../../shared/documents/records.js';
import { isCurrent } from '../../../shared/documents/transitions.js';
import type { Turns } from '../../../shared/fair-scheduling/turns.js';
import type { WorkerMetrics } from '../../../shared/observability/worker-metrics.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import type { Redis } from '../../../shared/redis/client.js';
import { traced } from '../../../shared/tracing/tracing.js';
import type { Outcome } from '../../lane-worker.js';
import { countLaterGaps } from '../embed-pieces.js';
import {
  chunkTexts,
  createLeaving,
  embedTexts,
  prepareTexts,
  readGroup,
  type PreparedText,
  type PrepareParts,
  type FoundText,
} from './prepare-texts.js';

export interface GroupParts extends PrepareParts {
  readonly redis: Redis;
  readonly records: Pick<Records, 'readMany' | 'publishGroup'>;
  readonly jobs: Pick<Jobs, 'addIngests'>;
  readonly metrics: Pick<WorkerMetrics, 'add'>;
  readonly limits: StepLimits;
  /** Work for the processor or Redis is done in turns, so that groups which come back from a provider at once take turns. */
  readonly turns: Pick<Turns, 'run'>;
  /** @throws UnavailableError while Redis is short of memory */
  readonly requireMemory: () => Promise<void>;
}

interface Group {
  readonly documentIds: readonly string[];
  readonly callerId: string;
  readonly requestId: string;
}

interface Run {
  readonly signal: AbortSignal;
  /** True if no worker has failed at this group or died of it. */
  readonly isFirst: boolean;
}

export type IngestGroup = (group: Group, run: Run) => Promise<Outcome>;

/**
 * Ingests new short texts of one caller together: reads, chunks and embeds all of them, and publishes them in as few steps
 * as Redis can do quickly. An unusual document gets a job of its own. All documents do when the group has failed, or a
 * worker has died while it ran: a fault of one text never keeps the others from being ingested.
 */
export function createIngestGroup(parts: GroupParts): IngestGroup {
  return async ({ documentIds, callerId, requestId }, { signal, isFirst }) => {
    if (!isFirst) {
      const known = await parts.records.readMany(documentIds);
      await addSingles(
        parts,
        known.filter((record) => record !== null),
        requestId,
      );
      return 'done';
    }
    let published = 0;
    for (let left = documentIds; left.length > 0;) {
      const done = await ingestFirst(parts, { ids: left, callerId }, signal);
      await addSingles(parts, done.others, requestId);
      published += done.published;
      left = left.slice(done.count);
    }
    return published > 0 ? 'published' : 'stale';
  };
}

interface Done {
  /** The number of documents that were read. */
  readonly count: number;
  readonly published: number;
  /** Documents that are still to be ingested, each alone. */
  readonly others: readonly DocumentRecord[];
}

/** Ingests the first of some texts, as many as are read at once. A turn ends while the provider is asked. */
async function ingestFirst(
  parts: GroupParts,
  { ids, callerId }: { readonly ids: readonly string[]; readonly callerId: string },
  signal: AbortSignal,
): Promise<Done> {
  const turn = { by: callerId, signal };
  const { others, leave } = createLeaving(parts, signal);
  const read = async () => {
    const found = await readGroup(parts.redis, ids);
    const waiting = found.filter((each) => each !== null).filter(({ record }) => isWaiting(record));
    return { found, chunked: await traced('chunk', {}, () => chunkTexts(parts, waiting, { signal, leave })) };
  };
  const { found, chunked } = await parts.turns.run(read, turn);
  const embedded = await embedTexts(parts, chunked, { signal, leave });
  const finish = async () => {
    const texts = await prepareTexts(embedded, { signal, leave });
    const attributes = { 'quire.documents': texts.prepared.length };
    const publish = () => publishAll(parts, texts.prepared);
    return { ...texts, changed: await traced('publish', { attributes }, publish) };
  };
  const { prepared, others: odd, changed } = await parts.turns.run(finish, turn);
  const again = [...missing(ids, found), ...others, ...odd, ...changed];
  const records = again.length > 0 ? await parts.records.readMany(again) : [];
  return {
    count: found.length,
    published: prepared.length - changed.length,
    others: records.filter((record) => record !== null),
  };
}

/** The ids of documents that were looked for and cannot be ingested with others. */
const missing = (ids: readonly string[], found: readonly (FoundText | null)[]): string[] =>
  ids.slice(0, found.length).filter((_, i) => found[i] === null);

/** Publishes texts, and resolves with the ids of documents that have changed since they were read. */
async function publishAll(parts: GroupParts, prepared: readonly PreparedText[]): Promise<string[]> {
  const { records, metrics, limits, requireMemory } = parts;
  const changed: string[] = [];
  for (let left = prepared; left.length > 0;) {
    const { texts, terms } = nextStep(left, limits);
    const [first] = texts;
    if (!first) throw new Error('no text fits a step');
    await requireMemory();
    const { userId, owner } = first;
    const refused = await records.publishGroup({
      documents: texts.map(({ published }) => published),
      userId,
      owner,
      terms,
    });
    if (refused.length > 0) {
      // Nothing was written. The others are published without them.
      const out = new Set(refused.map((place) => texts[place]));
      for (const each of out) if (each) changed.push(each.published.before.id);
      left = left.filter((each) => !out.has(each));
      continue;
    }
    left = left.slice(texts.length);
    const bytes = texts.reduce((sum, { published: { before } }) => sum + (before.pending?.sizeBytes ?? 0), 0);
    metrics.add('quire_ingested_documents_total', {}, texts.length);
    metrics.add('quire_ingested_bytes_total', {}, bytes);
    countLaterGaps(
      metrics,
      texts.reduce((sum, { published: { after } }) => sum + (after.published?.gaps ?? 0), 0),
    );
  }
  return changed;
}

/** Tells whether a document is as its group was made: later attempts have jobs of their own. */
const isWaiting = (record: DocumentRecord): boolean =>
  record.status === 'queued' && isCurrent(record, { documentId: record.id, version: 1, attempt: 1 });

/** Adds the jobs of documents that are ingested alone from now on. One that has its job already gets no other. */
async function addSingles(
  { jobs }: GroupParts,
  records: readonly DocumentRecord[],
  requestId: string,
): Promise<void> {
  const queued = records.filter(isWaiting).map((record) => ({ record }));
  if (queued.length > 0) await jobs.addIngests(queued, { requestId });
}

/** The size of one step of publishing, which holds Redis up for some milliseconds. */
interface StepLimits {
  readonly chunks: number;
  readonly bytes: number;
  readonly terms: number;
}

/** Takes as many texts from the front as one step may publish, at least one. All of them belong to the same user. */
function nextStep(
  prepared: readonly PreparedText[],
  limits: StepLimits,
): { readonly texts: readonly PreparedText[]; readonly terms: GroupTerms } {
  const first = prepared[0];
  const frequencies = new Map<number, number>();
  let [chunks, bytes, length, count] = [0, 0, 0, 0];
  for (const text of prepared) {
    const { chunks: own } = text.published.whole;
    if (count > 0) {
      const isOver = chunks + own.length > limits.chunks || bytes + text.bytes > limits.bytes;
      if (isOver || text.owner !== first?.owner || text.userId !== first.userId) break;
      if (ownerOf(text) !== ownerOf(first)) break;
      if (frequencies.size + countNew(frequencies, text.terms, limits.terms) > limits.terms) break;
    }
    for (const term of text.terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    chunks += own.length;
    bytes += text.bytes;
    for (const { terms } of own) length += packedLength(terms);
    count += 1;
  }
  return { texts: prepared.slice(0, count), terms: { chunks, length, frequencies } };
}

const ownerOf = ({ published }: PreparedText): string => published.before.ownerId;

/**
 * Returns the number of terms that are not counted yet. It may be too high when some terms come again; only then are they
 * looked at closely.
 */
function countNew(
  frequencies: ReadonlyMap<number, number>,
  terms: readonly number[],
  mostTerms: number,
): number {
  let fresh = 0;
  for (const term of terms) if (!frequencies.has(term)) fresh += 1;
  if (frequencies.size + fresh <= mostTerms) return fresh;
  return new Set(terms.filter((term) => !frequencies.has(term))).size;
}
