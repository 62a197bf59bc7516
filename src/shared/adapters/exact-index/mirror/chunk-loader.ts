import type { LoadedChunks } from '../../../../index/index.js';
import { lookUp } from '../../../at.js';
import type { OnProblem } from '../../../ports.js';
import type { MirrorClient } from './client.js';
import type { Mirror } from './mirror.js';
import type { ParsedRecord } from './record-parser.js';
import {
  chunksLeft,
  createChunkLoad,
  readPages,
  createLoadQueue,
  createMissingList,
  generationOf,
  REASONS,
  type ChunkLoad,
  type Page,
  type LoadQueue,
  type MissingChunks,
  type MissingList,
} from './chunk-load.js';

/**
 * Loads chunks in pages, between which searches are answered: chunks of published generations first, and then chunks of
 * generations that are about to be published, so that little is left to do when they are.
 */
export interface ChunkLoader {
  /** Takes over a record, begins to load the generations that it names, and drops the ones that it does not name any more. */
  follow(record: ParsedRecord): void;
  /** Tells whether chunks are loaded for a document, so that its next record has to be followed, too. */
  isFollowing(documentId: string): boolean;
  /** Drops the chunks that were loaded for a document that does not exist any more. */
  forget(documentId: string): void;
  clear(): void;
  /** Goes on after a failure. */
  resume(): void;
  /** Published generations that are not loaded yet. Searches that may find their documents have to wait for them. */
  readonly missing: ReadonlyMap<number, MissingChunks>;
}

export function createChunkLoader(parts: ChunkLoaderOptions): ChunkLoader {
  const state: LoaderState = {
    ...parts,
    documents: new Map(),
    queue: createLoadQueue(),
    missing: createMissingList(),
    isRunning: false,
    isFailing: false,
  };
  return {
    follow: (record) => {
      follow(state, record);
      void run(state);
    },
    isFollowing: (documentId) => state.documents.has(documentId),
    forget: (documentId) => forget(state, documentId),
    clear: () => {
      for (const documentId of [...state.documents.keys()]) forget(state, documentId);
    },
    resume: () => void run(state),
    missing: state.missing.all,
  };
}

function follow(state: LoaderState, record: ParsedRecord): void {
  const { mirror, documents } = state;
  const { id, published } = record;
  const following = documents.get(id) ?? newFollowing(record);
  following.record = record;
  documents.set(id, following);
  const isServed = published === null || isServing(mirror.get(id), published);
  const missing = isServed ? null : published;
  const prepared = isPublished(record.prepared, published) ? null : record.prepared;
  for (const load of following.loads.values())
    if (!isOf(load, missing) && !isOf(load, prepared)) drop(state, following, load);
  if (missing) serveOrLoad(state, following, missing);
  else {
    mirror.put(record, published ? 'kept' : null);
    endMissing(following);
  }
  if (prepared && !following.loads.has(prepared.attempt)) begin(state, following, prepared);
  tidy(state, following);
}

const newFollowing = (record: ParsedRecord): Following => ({
  record,
  loads: new Map(),
  suspects: new Set(),
  endMissing: null,
});

type Wanted = NonNullable<ParsedRecord['published']>;

/** A writer of an earlier version publishes without noting that the generation is not prepared any more. */
const isPublished = (prepared: Wanted | null, published: Wanted | null): boolean =>
  prepared !== null && prepared.attempt === published?.attempt;

/** An attempt that was begun anew may have another number of chunks, and a file that was renamed other terms. */
const isOf = ({ loaded, chunkCount }: ChunkLoad, wanted: Wanted | null): boolean =>
  isServing(loaded, wanted) && chunkCount === wanted?.chunkCount;

/** Makes a document answer with its published generation: at once if that was loaded before it was published. */
function serveOrLoad(state: LoaderState, following: Following, published: Wanted): void {
  const { mirror, queue, missing } = state;
  const { record, loads } = following;
  const load = loads.get(published.attempt);
  if (load?.state === 'whole') {
    serve(following, load, mirror);
    return;
  }
  mirror.put(record, 'kept');
  following.endMissing ??= missing.add(record.id, () => chunksMissing(following));
  if (load?.state !== 'loading') begin(state, following, published);
  else if (!load.isUrgent) {
    load.isUrgent = true;
    queue.add(load);
  }
}

function chunksMissing({ record, loads }: Following): number {
  const load = lookUp(loads, record.published?.attempt);
  return load ? chunksLeft(load) : 0;
}

function begin(state: LoaderState, following: Following, wanted: Wanted): void {
  const { id, published } = following.record;
  const load = createChunkLoad(id, wanted, { isUrgent: wanted.attempt === published?.attempt });
  following.loads.set(wanted.attempt, load);
  if (wanted.chunkCount > 0) state.queue.add(load);
  else finishLoad(state, load);
}

function forget(state: LoaderState, documentId: string): void {
  const following = state.documents.get(documentId);
  if (!following) return;
  for (const load of following.loads.values()) drop(state, following, load);
  endMissing(following);
  state.documents.delete(documentId);
}

function drop({ queue, mirror }: LoaderState, { loads }: Following, load: ChunkLoad): void {
  queue.remove(load);
  load.state = 'dropped';
  mirror.discard(load.loaded);
  loads.delete(load.loaded.attempt);
}

/** Loads until nothing is left to load. */
async function run(state: LoaderState): Promise<void> {
  const { client, mirror, queue, report } = state;
  if (state.isRunning) return;
  state.isRunning = true;
  try {
    const onPage = (page: Page) => {
      for (const load of new Set(page.map((piece) => piece.load))) finishLoad(state, load);
    };
    while (!queue.isEmpty) await readPages(queue.pages(), { client, mirror, onPage });
    // A page whose chunks were taken in may have failed before all its loads were ended. Nothing of them is asked again.
    if (state.isFailing)
      for (const { loads } of [...state.documents.values()])
        for (const load of [...loads.values()]) finishLoad(state, load);
    state.isFailing = false;
  } catch (error) {
    if (!state.isFailing)
      report('the index cannot read chunks, and tries again', { level: 'warn', error: String(error) });
    state.isFailing = true;
    for (const { loads } of state.documents.values())
      for (const load of loads.values()) askAgain(queue, load);
  } finally {
    state.isRunning = false;
  }
}

function askAgain(queue: LoadQueue, load: ChunkLoad): void {
  if (load.state !== 'loading') return;
  load.asked = load.loaded.slots.length;
  queue.add(load);
}

export interface LoadEvents {
  readonly report: OnProblem;
  /** A chunk is missing. Most likely the record has moved on, and must be read again. */
  readonly onSuspect: (documentId: string) => void;
  /** Nothing is left to be done for a generation before it is published. */
  readonly onPrepared: (generation: string) => void;
}

interface ChunkLoaderOptions extends LoadEvents {
  readonly client: Pick<MirrorClient, 'readChunks'>;
  readonly mirror: Mirror;
}

/** The record and the chunks that are loaded for a document. */
interface Following {
  record: ParsedRecord;
  /** By attempt: the published one, the one that is about to be published, or both. */
  readonly loads: Map<string, ChunkLoad>;
  /** Attempts with a missing chunk. If the record still names one when it is read again, its data is lost. */
  readonly suspects: Set<string>;
  /** Ends the waiting for the published generation; null when nobody has to wait for it. */
  endMissing: (() => void) | null;
}

interface LoaderState extends ChunkLoaderOptions {
  readonly documents: Map<string, Following>;
  readonly queue: LoadQueue;
  readonly missing: MissingList;
  isRunning: boolean;
  isFailing: boolean;
}

/** Ends a load that is whole or has failed. */
function finishLoad(state: LoaderState, load: ChunkLoad): void {
  const following = state.documents.get(load.documentId);
  if (!following || load.state !== 'loading') return;
  if (load.failure !== null) fail(state, following, { load, failure: load.failure });
  else if (chunksLeft(load) > 0) return;
  else {
    load.state = 'whole';
    if (load.loaded.attempt === following.record.published?.attempt) serve(following, load, state.mirror);
    else state.onPrepared(generationOf(load));
  }
  tidy(state, following);
}

function serve(following: Following, { loaded }: ChunkLoad, mirror: Mirror): void {
  mirror.put(following.record, loaded);
  following.loads.delete(loaded.attempt);
  endMissing(following);
}

function fail(
  state: LoaderState,
  following: Following,
  { load, failure }: { readonly load: ChunkLoad; readonly failure: keyof typeof REASONS },
): void {
  const { mirror, queue, report, onSuspect, onPrepared } = state;
  const { record, loads, suspects } = following;
  const { attempt } = load.loaded;
  load.state = 'failed';
  queue.remove(load);
  mirror.discard(load.loaded);
  if (attempt !== record.published?.attempt) {
    // It is loaded again if it is published. What is wrong then is reported.
    onPrepared(generationOf(load));
    return;
  }
  loads.delete(attempt);
  if (failure === 'missing' && !suspects.has(attempt)) {
    suspects.add(attempt);
    onSuspect(record.id);
    return;
  }
  mirror.put(record, null);
  endMissing(following);
  report(`a document is left out of search: ${REASONS[failure]}`, {
    level: 'error',
    documentId: record.id,
    generation: generationOf(load),
  });
}

function endMissing(following: Following): void {
  following.endMissing?.();
  following.endMissing = null;
}

function tidy({ documents }: LoaderState, { record, loads, endMissing: end }: Following): void {
  if (loads.size === 0 && end === null) documents.delete(record.id);
}

type Served = Pick<LoadedChunks, 'attempt' | 'named'>;

/**
 * Tells whether chunks are the ones that a record publishes, with the terms of its file's name. While the record is being
 * changed, they stay as they are.
 */
export function isServing(
  chunks: (Pick<Served, 'named'> & { readonly attempt: string | null }) | undefined,
  published: Served | null,
): boolean {
  if (!chunks || chunks.attempt !== published?.attempt) return false;
  return published.named === undefined || published.named === chunks.named;
}
