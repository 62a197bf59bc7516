import type { Chunks } from '../../shared/chunks/chunks.js';
import type { ChunkText } from '../../shared/chunks/fields.js';
import { maxTagBytes } from '../../shared/chunks/tag-budget.js';
import type { DocumentRecord } from '../../shared/document.js';
import { IngestError, UnavailableError } from '../../shared/errors.js';
import { defineScript, type Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';
import type { MemoryWatch } from '../../shared/redis/memory.js';
import { tagsWhenPublished } from './tags.js';

/** A document that was read waits longer than a step: it is to be read again. */
const DOCUMENT_WAITS_SECONDS = 15;
const STEP_WAITS_SECONDS = 5;
/** Documents of fewer chunks are let in by the share alone: however many run at once, the rest above it is more. */
const MIN_RESERVED_CHUNKS = 64;

/** @throws UnavailableError as long as Redis is short of memory: the job is put off */
async function requireRoom(memory: MemoryWatch): Promise<void> {
  if (await memory.isShort())
    throw new UnavailableError('room in Redis', { retryAfterSeconds: STEP_WAITS_SECONDS });
}

/** Chunks that are written, or get other tags, only while there is room. */
export function withRoom(chunks: Chunks, memory: MemoryWatch): Chunks {
  const guarded =
    <Args extends readonly unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await requireRoom(memory);
      return write(...args);
    };
  return {
    ...chunks,
    writeTexts: guarded(chunks.writeTexts),
    writeTags: guarded(chunks.writeTags),
    writeEmbedded: guarded(chunks.writeEmbedded),
    writeWhole: guarded(chunks.writeWhole),
  };
}

/** Before the first chunk of a document is written. @throws IngestError, UnavailableError */
export type ReserveRoom = (record: DocumentRecord, pieces: readonly ChunkText[]) => Promise<void>;

/**
 * Sees to it that a document which is begun can be finished: what it will take is set apart as long as it is being
 * ingested, else several half-written ones could hold all memory and wait for each other.
 */
export function createReserveRoom({
  redis,
  memory,
  vectorBytes,
}: {
  readonly redis: Redis;
  readonly memory: MemoryWatch;
  readonly vectorBytes: number;
}): ReserveRoom {
  return async (record, pieces) => {
    const tags = tagsWhenPublished(record).length;
    if (tags > maxTagBytes(pieces.length))
      throw new IngestError('too_large', 'The document holds too much text for so much metadata.');
    const { used, share } = await memory.state();
    if (share === Infinity || pieces.length <= MIN_RESERVED_CHUNKS) return;
    const wanted = estimateBytes(pieces, { tags, vectorBytes });
    if (wanted > share)
      throw new IngestError('too_large', 'The document needs more memory than the service has.');
    const isReserved = await reserveScript.run(redis, {
      keys: [keys.reservedRoom, keys.ingests],
      arguments: [record.id, String(wanted), String(Math.max(0, Math.floor(share - used)))],
    });
    if (isReserved === 1) return;
    throw new UnavailableError('room in Redis', { retryAfterSeconds: DOCUMENT_WAITS_SECONDS });
  };
}

/** Key, fields and the index's own tables, of a chunk. */
const CHUNK_BYTES = 1_000;
/** Of the bytes of a text: itself, its terms, and their share of the owner's statistics. */
const TEXT_FACTOR = 2.5;

function estimateBytes(
  pieces: readonly ChunkText[],
  { tags, vectorBytes }: { tags: number; vectorBytes: number },
): number {
  const texts = pieces.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return Math.ceil(TEXT_FACTOR * texts + pieces.length * (CHUNK_BYTES + tags + vectorBytes));
}

/** Only what is being ingested has a claim: ends of all kinds take a document out of `ingests` in the step itself. */
const reserveScript = defineScript<number>(`
local reserved, ingests = KEYS[1], KEYS[2]
local id, wanted, room = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local others, entries = 0, redis.call('HGETALL', reserved)
for i = 1, #entries, 2 do
  if redis.call('HEXISTS', ingests, entries[i]) == 0 then redis.call('HDEL', reserved, entries[i])
  elseif entries[i] ~= id then others = others + tonumber(entries[i + 1]) end
end
if others + wanted > room then return 0 end
redis.call('HSET', reserved, id, ARGV[2])
return 1
`);
