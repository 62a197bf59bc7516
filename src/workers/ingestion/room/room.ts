import { packedSize, readTerms } from '../../../index/index.js';
import { maxTagBytes, packWhereabouts, type ChunkText } from '../../../shared/chunks/fields.js';
import { searchedTerms, type Naming } from '../../../shared/chunks/searched-text.js';
import type { VectorType } from '../../../shared/data-set/stored-vectors.js';
import { callerOf, type DocumentRecord } from '../../../shared/document.js';
import {
  requireChunks,
  countUnfinishedIngests,
  countUnfinishedIngestsOf,
  type Quotas,
} from '../../../shared/documents/counts.js';
import { IngestError, UnavailableError } from '../../../shared/errors.js';
import type { Embedding } from '../../../shared/models/embedding.js';
import type { Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';
import type { MemoryWatch } from '../../../shared/redis/memory.js';
import { termTokens } from '../../../shared/text/term-tokens.js';
import { nextSlice } from '../../../shared/tools/time-slices.js';
import { shownWhenPublished } from '../write-tags.js';
import { reserveScript, spendScript, type TurnTimes } from './room-scripts.js';

/** A document that waits is tried again after so long, and later where many are unfinished. */
const RETRY_SECONDS = 5;
/** The number of documents that are tried in a second, of one caller and of all together. */
const TRIES_A_SECOND = { own: 50, all: 500 };
/** A caller waits until a document of theirs has not asked again for this many pauses. */
const WAITING_PAUSES = 3;
/** When a document that waits gets its turn, and how long others leave it room; see `room-scripts.ts`. */
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

const RESERVE_KEYS = {
  reserved: keys.reservedRoom,
  waiting: keys.waitingForRoom,
  ingests: keys.ingests,
  callers: keys.callersWaitingForRoom,
  line: keys.lineForRoom,
  turn: keys.turnForRoom,
} as const;

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
        keys: { reserved: keys.reservedRoom },
        args: { id, version, share: left },
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
  const { patience, idle, most } = turns;
  const callerWaits = WAITING_PAUSES * pause * 1_000;
  const [reserved, isInLine] = await reserveScript.run(redis, {
    keys: RESERVE_KEYS,
    args: {
      id: record.id,
      version: record.version,
      all,
      embedding,
      room: free,
      callerWaits,
      patience,
      idle,
      most,
    },
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

/** The key of a chunk, the table of its fields, their names, and the short ones of these. */
const CHUNK_BYTES = 1_100;
/** A term that the owner's statistics do not hold yet, with its share of a table that is twice as large as it has to be. */
const TERM_BYTES = 80;

/**
 * The memory that the Query Engine takes in addition: a posting of a term, a term that it does not know yet, and a chunk in
 * its tables.
 */
const ENGINE = { posting: 14, term: 400, chunk: 500 };
const NO_ENGINE = { posting: 0, term: 0, chunk: 0 };
/** The number of vectors for which the engine makes room at once. */
const ENGINE_VECTORS = 1_024;

interface RoomEstimate {
  /** In bytes. */
  readonly all: number;
  /** The part of it that is still to be written once the texts are. */
  readonly embedding: number;
}

/** The lengths and the end of a string. */
const STRING_HEAD = 6;

/** The event loop may go on to others after this many characters. */
const CHARACTERS_A_SLICE = 100_000;

interface KnownCosts extends ChunkCosts {
  /** The tags that each chunk holds. */
  readonly tags: string;
  readonly naming: Naming;
}

/**
 * Estimates the memory that the chunks of a document will take in Redis, by the facts that are known once it is cut into
 * chunks. The figures are upper bounds of measurements with texts of many kinds (`test/e2e/room.test.ts`).
 */
export async function estimateRoom(pieces: readonly ChunkText[], known: KnownCosts): Promise<RoomEstimate> {
  const { tags, naming, vectorBytes, isIndexed } = known;
  const engine = isIndexed ? ENGINE : NO_ENGINE;
  const vectors = allocated(vectorBytes) + (isIndexed ? vectorBytes + engine.chunk : 0);
  const different = new Set<number>();
  let texts = pieces.length * (CHUNK_BYTES + allocated(Buffer.byteLength(tags)));
  let embedding = pieces.length * vectors + (isIndexed ? ENGINE_VECTORS * vectorBytes : 0);
  let sinceSlice = 0;
  for (const piece of pieces) {
    const terms = searchedTerms(piece, naming);
    texts += allocated(Buffer.byteLength(piece.text));
    texts += allocated(Buffer.byteLength(packWhereabouts(piece)));
    embedding += allocated(terms.length) + allocated(termTokens(terms).length);
    embedding += packedSize(terms) * engine.posting;
    readTerms(terms, (term) => different.add(term));
    sinceSlice += piece.text.length;
    if (sinceSlice < CHARACTERS_A_SLICE) continue;
    await nextSlice();
    sinceSlice = 0;
  }
  embedding += different.size * (TERM_BYTES + engine.term);
  return { all: Math.ceil(texts + embedding), embedding: Math.ceil(embedding) };
}

/**
 * Returns the memory that Redis' allocator takes for a string: its bytes and its head, up to the next of four sizes between
 * powers of two.
 */
function allocated(bytes: number): number {
  const whole = bytes + STRING_HEAD;
  const step = 2 ** Math.max(3, Math.ceil(Math.log2(whole)) - 3);
  return Math.ceil(whole / step) * step;
}

/** The costs that every chunk has alike. */
interface ChunkCosts {
  /** The bytes of a vector. */
  readonly vectorBytes: number;
  /** True if the Query Engine indexes the chunks, for which it keeps a copy of each vector. */
  readonly isIndexed: boolean;
}

interface ChunkCostParts {
  readonly redis: Redis;
  readonly vectorType: VectorType;
  readonly embedding: Pick<Embedding, 'dimensions'>;
}

/**
 * The data tells both as soon as it has a vector or an index, which may be after this process has started. Before the first
 * vector, the model is asked for one.
 * @throws UnavailableError when its provider is away
 */
export async function chunkCosts({ redis, vectorType, embedding }: ChunkCostParts): Promise<ChunkCosts> {
  const [dimensions, index] = await redis.hmGet(keys.schema, ['dimensions', 'index']);
  const known = Number(dimensions ?? 0) || (await embedding.dimensions());
  return {
    isIndexed: index != null,
    vectorBytes: known * (vectorType === 'float16' ? 2 : 4),
  };
}
