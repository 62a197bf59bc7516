import { maxTagBytes, type ChunkText } from '../../../shared/chunks/fields.js';
import { callerOf, type DocumentRecord } from '../../../shared/document.js';
import {
  countUnfinishedIngests,
  countUnfinishedIngestsOf,
} from '../../../shared/documents/unfinished-ingests.js';
import { requireChunks, type Quotas } from '../../../shared/documents/owned.js';
import { IngestError, UnavailableError } from '../../../shared/errors.js';
import type { Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';
import type { MemoryWatch } from '../../../shared/redis/memory.js';
import { shownWhenPublished } from '../write-tags.js';
import type { ChunkCosts } from './chunk-costs.js';
import { estimateRoom, type RoomEstimate } from './estimate.js';
import { reserveScript, spendScript } from './room-scripts.js';
import type { TurnTimes } from './turn-scripts.js';

/** A document that waits is tried again after so long, and later where many are unfinished. */
const RETRY_SECONDS = 5;
/** The number of documents that are tried in a second, of one caller and of all together. */
const TRIES_A_SECOND = { own: 50, all: 500 };
/** A caller waits until a document of theirs has not asked again for this many pauses. */
const WAITING_PAUSES = 3;
/** When a document that waits gets its turn, and how long others leave it room; see `turn-scripts.ts`. */
const TURNS: TurnTimes = { patience: 60_000, idle: 30_000, most: 600_000 };
/** Smaller documents need no reservation while none has its turn: the memory above the share is enough for all that run at the same time. */
const MIN_RESERVED_CHUNKS = 64;

/**
 * The memory of Redis that long documents will need while they are ingested. It is reserved, so that a begun document can
 * be finished; otherwise several half-written documents could use up the memory and wait for each other. A document that
 * waits for room holds none. Where an estimate was too low, `maintenance/make-room.ts` takes back begun documents.
 */
export interface Room {
  /**
   * Reserves the room for a document that had to wait for it before, so that it is not read again in vain.
   * @throws IngestError, UnavailableError
   */
  readonly reserveAgain: (record: DocumentRecord) => Promise<void>;
  /** Must be called before the first chunk of a document is written. @throws IngestError, UnavailableError */
  readonly reserve: (record: DocumentRecord, pieces: readonly ChunkText[]) => Promise<void>;
  /** Notes how much is still to be written once all texts are: a share, from 1 down to 0, of the bytes that embedding adds. */
  readonly spend: (record: Pick<DocumentRecord, 'id' | 'version'>, left: number) => Promise<void>;
}

const RESERVE_KEYS = [
  keys.reservedRoom,
  keys.waitingForRoom,
  keys.ingests,
  keys.callersWaitingForRoom,
  keys.lineForRoom,
  keys.turnForRoom,
];

interface RoomParts {
  readonly redis: Redis;
  readonly memory: MemoryWatch;
  readonly costs: () => Promise<ChunkCosts>;
  readonly quotas: Quotas;
  readonly turns?: TurnTimes;
}

export function createRoom(parts: RoomParts): Room {
  const { redis, memory, costs, quotas } = parts;
  const isBounded = async () => (await memory.state()).share !== Infinity;
  return {
    reserveAgain: async (record) => {
      if (!(await isBounded()) || !(await redis.hExists(keys.waitingForRoom, record.id))) return;
      await reserveBytes(parts, record, { all: 0, embedding: 0 });
    },
    reserve: async (record, pieces) => {
      const { tags, naming } = shownWhenPublished(record);
      if (tags.length > maxTagBytes(pieces.length))
        throw new IngestError('too_large', 'The document holds too much text for so much metadata.');
      await requireChunks(redis, { record, chunks: pieces.length }, quotas);
      if (!(await isBounded())) return;
      if (pieces.length <= MIN_RESERVED_CHUNKS && !(await isTurn(redis))) return;
      await reserveBytes(parts, record, await estimateRoom(pieces, { ...(await costs()), tags, naming }));
    },
    spend: async ({ id, version }, left) => {
      if (!(await isBounded())) return;
      await spendScript.run(redis, {
        keys: [keys.reservedRoom],
        arguments: [id, String(version), String(left)],
      });
    },
  };
}

/** @throws IngestError when there can never be this much, UnavailableError when there is not now */
async function reserveBytes(
  { redis, memory, turns = TURNS }: RoomParts,
  record: DocumentRecord,
  { all, embedding }: RoomEstimate,
): Promise<void> {
  const pause = await pauseOf(redis, callerOf(record));
  const { used, share } = await memory.state();
  const free = Math.max(0, Math.floor(share - used));
  const figures = [all, embedding, free, WAITING_PAUSES * pause * 1_000];
  const times = [turns.patience, turns.idle, turns.most];
  const [reserved, isInLine] = await reserveScript.run(redis, {
    keys: RESERVE_KEYS,
    arguments: [record.id, ...[record.version, ...figures, ...times].map(String)],
  });
  if (Math.abs(reserved) > share) {
    // A later try then wants no more than the document takes.
    await redis.hDel(keys.waitingForRoom, record.id);
    throw new IngestError('too_large', 'The document needs more memory than the service has.');
  }
  // Only few documents stand in the line, and each must notice its turn.
  const retryAfterSeconds = isInLine === 1 ? RETRY_SECONDS : pause;
  if (reserved < 0) throw new UnavailableError('room in Redis', { retryAfterSeconds });
}

/** Tells whether a document has its turn, for which others leave room. */
const isTurn = async (redis: Redis) => (await redis.hExists(keys.turnForRoom, 'document')) === 1;

async function pauseOf(redis: Redis, callerId: string): Promise<number> {
  const [own, all] = await Promise.all([
    countUnfinishedIngestsOf(redis, callerId),
    countUnfinishedIngests(redis),
  ]);
  return Math.ceil(Math.max(RETRY_SECONDS, own / TRIES_A_SECOND.own, all / TRIES_A_SECOND.all));
}
