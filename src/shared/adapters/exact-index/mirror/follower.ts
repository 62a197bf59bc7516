import { randomUUID } from 'node:crypto';
import type { Mirror } from './mirror.js';
import { createChunkLoader, type ChunkLoader } from './chunk-loading/chunk-loader.js';
import type { LoadEvents } from './chunk-loading/finish-load.js';
import type { Changes, Head, MirrorClient } from './client.js';
import { createDocumentLoader, type DocumentLoader } from './document-loader.js';
import type { MissingChunks } from './chunk-loading/missing-chunks.js';

/** Deletions leave the change log after a day, so a mirror that was not synced for half of that starts over. */
const MAX_SLEEP_MS = 12 * 60 * 60 * 1000;
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
  syncedAt: number;
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
    syncedAt: Date.now(),
  };
  return {
    sync: async () => {
      const asked = Date.now();
      const isRecent = asked - following.syncedAt <= MAX_SLEEP_MS;
      if (isRecent && (await isCurrent(following))) following.syncedAt = asked;
      else await readOn(following);
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
    const started = Date.now();
    const isTooOld = started - following.syncedAt > MAX_SLEEP_MS;
    const changes = await following.client.readChanges(following.position?.sequence ?? 0);
    const { position } = following;
    if (position && !isTooOld && continues(changes, position)) {
      isWhole = await apply(following, changes, position);
      if (isWhole) following.syncedAt = started;
      continue;
    }
    following.syncedAt = started;
    beginnings += 1;
    if (beginnings > MAX_BEGINNINGS) throw new Error('the change log never continues: is its counter lost?');
    await begin(following, changes.epoch);
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
async function begin(following: Following, epoch: string | null): Promise<void> {
  following.position = null;
  following.onState('loading');
  following.background.clear();
  following.suspects.clear();
  following.mirror.clear();
  if (epoch === null) await following.client.nameDataSet(randomUUID());
  else following.position = { epoch, sequence: 0, counted: null };
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
