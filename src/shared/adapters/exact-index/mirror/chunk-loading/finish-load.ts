import type { Mirror } from '../mirror.js';
import type { OnProblem } from '../../../../ports.js';
import type { MirrorClient } from '../client.js';
import type { ParsedRecord } from '../record-parser.js';
import { chunksLeft, generationOf, REASONS, type ChunkLoad } from './chunk-load.js';
import type { LoadQueue } from './load-queue.js';
import type { MissingList } from './missing-chunks.js';

export interface LoadEvents {
  readonly report: OnProblem;
  /** A chunk is missing. Most likely the record has moved on, and must be read again. */
  readonly onSuspect: (documentId: string) => void;
  /** Nothing is left to be done for a generation before it is published. */
  readonly onPrepared: (generation: string) => void;
}

export interface ChunkLoaderOptions extends LoadEvents {
  readonly client: Pick<MirrorClient, 'readChunks'>;
  readonly mirror: Mirror;
}

/** The record and the chunks that are loaded for a document. */
export interface Following {
  record: ParsedRecord;
  /** By attempt: the published one, the one that is about to be published, or both. */
  readonly loads: Map<string, ChunkLoad>;
  /** Attempts with a missing chunk. If the record still names one when it is read again, its data is lost. */
  readonly suspects: Set<string>;
  /** Ends the waiting for the published generation; null when nobody has to wait for it. */
  endMissing: (() => void) | null;
}

export interface LoaderState extends ChunkLoaderOptions {
  readonly documents: Map<string, Following>;
  readonly queue: LoadQueue;
  readonly missing: MissingList;
  isRunning: boolean;
  isFailing: boolean;
}

/** Ends a load that is whole or has failed. */
export function finishLoad(state: LoaderState, load: ChunkLoad): void {
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

export function serve(following: Following, { loaded }: ChunkLoad, mirror: Mirror): void {
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

export function endMissing(following: Following): void {
  following.endMissing?.();
  following.endMissing = null;
}

export function tidy({ documents }: LoaderState, { record, loads, endMissing: end }: Following): void {
  if (loads.size === 0 && end === null) documents.delete(record.id);
}
