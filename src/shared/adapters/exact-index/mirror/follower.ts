import { randomUUID } from 'node:crypto';
import type { OnProblem } from '../../../ports.js';
import {
  createChunkLoad,
  generationOf,
  pagesOf,
  readPages,
  REASONS,
  type MissingChunks,
  type ChunkLoad,
} from './chunk-load.js';
import { createChunkLoader, isServing, type ChunkLoader, type LoadEvents } from './chunk-loader.js';
import type { Changes, Head, MirrorClient } from './client.js';
import type { Mirror } from './mirror.js';
import { createRecordParser, type ParsedRecord, type ParseRecord } from './record-parser.js';

/** A sync may begin this often. Naming a new data set and then loading it are two beginnings. */
const MAX_BEGINNINGS = 5;

/** Keeps a mirror equal to Redis by reading its change log. */
export interface Follower {
  /**
   * Takes over all changes up to now. The chunks of generations that were published meanwhile may still be `missing`.
   * @throws the error that Redis rejects with
   */
  sync(): Promise<void>;
  readonly missing: ReadonlyMap<number, MissingChunks>;
  /** The head with which the mirror is whole, as long as nothing is missing; null while it holds no data set. */
  readonly head: Head | null;
  /** Makes the next sync load everything, because Redis may have lost changes that this mirror has seen. */
  startOver(): void;
}

interface Position {
  readonly epoch: string;
  /** Number of the last change that the mirror has. */
  sequence: number;
  /** The data set's counter when the mirror last had all changes; null before that. */
  counted: number | null;
  /** The data set's counter when the mirror last held no document that had been deleted by then. */
  checked: number;
}

interface FollowerOptions extends Pick<LoadEvents, 'report' | 'onPrepared'> {
  readonly client: MirrorClient;
  readonly mirror: Mirror;
  /** Called when the next sync has something to do. */
  readonly onWork: () => void;
  /** Called with `loading` when the mirror is emptied, and with `ready` when it has all changes. */
  readonly onState: (state: 'loading' | 'ready') => void;
}

interface Following extends FollowerOptions {
  readonly background: ChunkLoader;
  readonly loader: DocumentLoader;
  /** Documents whose records are to be read again. */
  readonly suspects: Set<string>;
  /** The data set that the mirror holds, and the place in its changes that it has come to; null while it holds none. */
  position: Position | null;
}

export function createFollower(options: FollowerOptions): Follower {
  const suspects = new Set<string>();
  const onSuspect = (documentId: string) => {
    suspects.add(documentId);
    options.onWork();
  };
  const background = createChunkLoader({ ...options, onSuspect });
  const loader = createDocumentLoader({ ...options, background });
  const following: Following = {
    ...options,
    background,
    loader,
    suspects,
    position: null,
  };
  return {
    sync: async () => {
      if (!(await isCurrent(following))) await readOn(following);
      await readSuspects(following);
      background.resume();
    },
    missing: background.missing,
    get head() {
      const { position } = following;
      return position?.counted == null ? null : { epoch: position.epoch, sequence: position.counted };
    },
    startOver: () => {
      following.position = null;
    },
  };
}

/**
 * Tells whether nothing has changed since the last sync. This is one cheap command, sent before answers that nobody
 * confirms.
 */
async function isCurrent(following: Following): Promise<boolean> {
  const { client, position } = following;
  if (position?.counted == null) return false;
  const { epoch, sequence } = await client.readHead();
  // `startOver` may have been called meanwhile.
  return following.position === position && epoch === position.epoch && sequence === position.counted;
}

/** Takes over pages of changes until none is left. */
async function readOn(following: Following): Promise<void> {
  for (let beginnings = 0, isWhole = false; !isWhole;) {
    const changes = await following.client.readChanges(following.position?.sequence ?? 0);
    const { position } = following;
    if (position && continues(changes, position)) {
      await dropDeleted(following, changes, position);
      isWhole = await apply(following, changes, position);
      continue;
    }
    beginnings += 1;
    if (beginnings > MAX_BEGINNINGS) throw new Error('the change log never continues: is its counter lost?');
    await begin(following, changes);
  }
}

/** Reads records again of which a chunk was missing. */
async function readSuspects({ suspects, loader }: Following): Promise<void> {
  if (suspects.size === 0) return;
  const documentIds = [...suspects];
  suspects.clear();
  try {
    await loader.takeOver(documentIds);
  } catch (error) {
    for (const documentId of documentIds) suspects.add(documentId);
    throw error;
  }
}

/** Empties the mirror to load a data set, which gets a name if it has none. */
async function begin(following: Following, { epoch, sequence }: Head): Promise<void> {
  following.position = null;
  following.onState('loading');
  following.background.clear();
  following.suspects.clear();
  following.mirror.clear();
  if (epoch === null) await following.client.nameDataSet(randomUUID());
  else following.position = { epoch, sequence: 0, counted: null, checked: sequence };
}

/**
 * Drops documents whose deletion the mirror has not read and cannot read any more, because it has left the change log: while
 * the mirror slept, or loaded for long.
 */
async function dropDeleted(following: Following, changes: Changes, position: Position): Promise<void> {
  if (changes.forgotten <= Math.max(position.sequence, position.checked)) return;
  await following.loader.dropDeleted([...following.mirror.documentIds()]);
  position.checked = changes.sequence;
}

/** Takes over a page of changes. @returns true if the mirror is whole then */
async function apply(following: Following, changes: Changes, position: Position): Promise<boolean> {
  const documentIds = changes.entries.map(({ documentId }) => documentId);
  const { loader } = following;
  // Nothing is answered before the mirror was whole for the first time, so that all is loaded at once.
  if (position.counted === null) await loader.loadWhole(documentIds);
  else await loader.takeOver(documentIds);
  // `startOver` may have been called meanwhile.
  if (following.position !== position) return false;
  position.sequence = changes.entries.at(-1)?.sequence ?? position.sequence;
  if (!changes.isLastPage) return false;
  // The counter was read before the entries, so that all changes it has counted are among them.
  position.counted = changes.sequence;
  following.onState('ready');
  return true;
}

/** Tells whether these changes continue the changes that the mirror has seen of the same data set. */
function continues(changes: Changes, position: { epoch: string; sequence: number }): boolean {
  return changes.epoch === position.epoch && changes.sequence >= position.sequence;
}

/** Documents are loaded in groups of this size, several groups at a time so that Redis is never idle. */
const GROUP_SIZE = 256;
const GROUPS_AT_ONCE = 3;

/**
 * Copies documents from Redis into the mirror. All functions throw the errors that Redis rejects with; documents that were
 * copied until then stay.
 */
interface DocumentLoader {
  /** Copies documents with their chunks, while nothing is answered yet. */
  loadWhole(documentIds: readonly string[]): Promise<void>;
  /** Takes over records. Their chunks follow in the background. */
  takeOver(documentIds: readonly string[]): Promise<void>;
  /** Looks whether documents exist, and drops the others. */
  dropDeleted(documentIds: readonly string[]): Promise<void>;
}

interface DocumentLoaderOptions {
  readonly client: Pick<MirrorClient, 'readRecords' | 'readChunks'>;
  readonly mirror: Mirror;
  readonly background: ChunkLoader;
  readonly report: OnProblem;
}
type Reading = DocumentLoaderOptions & { readonly parseRecord: ParseRecord };

export function createDocumentLoader(parts: DocumentLoaderOptions): DocumentLoader {
  const reading = { ...parts, parseRecord: createRecordParser() };
  return {
    loadWhole: (documentIds) => inGroups(documentIds, (group) => loadGroup(group, reading)),
    takeOver: (documentIds) =>
      inGroups(documentIds, async (group) => {
        for (const record of await readRecords(group, reading)) parts.background.follow(record);
      }),
    dropDeleted: (documentIds) =>
      inGroups(documentIds, async (group) => {
        await readRecords(group, reading);
      }),
  };
}

/** Works on several groups at a time. @throws the error of the first one that failed, once all have ended */
async function inGroups(
  documentIds: readonly string[],
  work: (group: readonly string[]) => Promise<void>,
): Promise<void> {
  const groups = slices(documentIds, GROUP_SIZE);
  const workOn = async () => {
    for (const group of groups) await work(group);
  };
  const ended = await Promise.allSettled(Array.from({ length: GROUPS_AT_ONCE }, workOn));
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

/** Makes groups of items for all who take from it. It ends for all when one of them fails. */
function* slices<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let first = 0; first < items.length; first += size) yield items.slice(first, first + size);
}

/** Reads the records that exist and can be read; the mirror forgets all other documents. */
async function readRecords(
  documentIds: readonly string[],
  { client, mirror, background, parseRecord, report }: Reading,
): Promise<ParsedRecord[]> {
  const found = await client.readRecords(documentIds);
  return documentIds.flatMap((id, i) => {
    const texts = found[i] ?? null;
    try {
      if (texts) return [parseRecord(id, texts)];
    } catch (error) {
      // It must not keep all others from being found.
      const fields = { level: 'error', documentId: id, error: String(error) };
      report('a document is left out: its record is malformed', fields);
    }
    background.forget(id);
    mirror.remove(id);
    return [];
  });
}

interface WholeLoad {
  readonly record: ParsedRecord;
  readonly load: ChunkLoad;
}

async function loadGroup(documentIds: readonly string[], reading: Reading): Promise<void> {
  const { mirror, background } = reading;
  let remaining = documentIds;
  /** Generations with a missing chunk. If the record still names one when it is read again, its data is lost. */
  const suspects = new Set<string>();
  while (remaining.length > 0) {
    const records = await readRecords(remaining, reading);
    const loads = records.flatMap((record) => beginWhole(record, mirror));
    await readWhole(loads, reading);
    remaining = loads.flatMap((each) => settle(each, { ...reading, suspects }));
    for (const record of records)
      if (record.prepared || background.isFollowing(record.id)) background.follow(record);
  }
}

/** Updates a document whose chunks the mirror has already. Returns the loads of generations that it does not have yet. */
function beginWhole(record: ParsedRecord, mirror: Mirror): WholeLoad[] {
  const { id, published } = record;
  if (!published || isServing(mirror.get(id), published)) {
    mirror.put(record, published ? 'kept' : null);
    return [];
  }
  return [{ record, load: createChunkLoad(id, published, { isUrgent: true }) }];
}

async function readWhole(loads: readonly WholeLoad[], { client, mirror }: Reading): Promise<void> {
  const chunkLoads = loads.map(({ load }) => load);
  try {
    await readPages(pagesOf(chunkLoads), { client, mirror });
  } catch (error) {
    for (const { loaded } of chunkLoads) mirror.discard(loaded);
    throw error;
  }
}

/** Lets a document answer with its loaded chunks. @returns the document's id if it must be read again */
function settle(
  { record, load }: WholeLoad,
  { mirror, report, suspects }: { mirror: Mirror; report: OnProblem; suspects: Set<string> },
): string[] {
  const { loaded, failure } = load;
  if (failure === null) {
    mirror.put(record, loaded);
    return [];
  }
  const generation = generationOf(load);
  mirror.discard(loaded);
  if (failure === 'missing' && !suspects.has(generation)) {
    // Most likely the record has moved on, and these chunks were unlinked.
    suspects.add(generation);
    return [record.id];
  }
  mirror.put(record, null);
  report(`a document is left out of search: ${REASONS[failure]}`, {
    level: 'error',
    documentId: record.id,
    generation,
  });
  return [];
}
