import type { ChunkText } from '../../shared/chunks/fields.js';
import { packWhereabouts } from '../../shared/chunks/whereabouts.js';
import { maxTagBytes } from '../../shared/chunks/tag-budget.js';
import type { DocumentRecord } from '../../shared/document.js';
import { IngestError, UnavailableError } from '../../shared/errors.js';
import { defineScript, type Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';
import type { MemoryWatch } from '../../shared/redis/memory.js';
import { tagsWhenPublished } from './write-tags.js';

/** The document will have to be read again, so it waits longer than a single write does. */
const RETRY_SECONDS = 15;
/** Smaller documents need no reservation: the memory above the share is enough for all that run at the same time. */
const MIN_RESERVED_CHUNKS = 64;

/** Must be called before the first chunk of a document is written. @throws IngestError, UnavailableError */
export type ReserveMemory = (record: DocumentRecord, pieces: readonly ChunkText[]) => Promise<void>;

/**
 * Reserves the memory that a document will need for as long as it is being ingested, so that a document which was begun
 * can be finished. Otherwise several half-written documents could use up the memory and wait for each other.
 */
export function createReserveMemory({
  redis,
  memory,
  vectorBytes,
}: {
  readonly redis: Redis;
  readonly memory: MemoryWatch;
  readonly vectorBytes: number;
}): ReserveMemory {
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
    throw new UnavailableError('room in Redis', { retryAfterSeconds: RETRY_SECONDS });
  };
}

/** Memory for a chunk's key, its fields and the tables of the index. */
const CHUNK_BYTES = 1_000;
/** Memory for a text, its terms and their share of the owner's statistics, as a multiple of the text's bytes. */
const TEXT_FACTOR = 2.5;

function estimateBytes(
  pieces: readonly ChunkText[],
  { tags, vectorBytes }: { tags: number; vectorBytes: number },
): number {
  const texts = pieces.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  const places = pieces.reduce((sum, piece) => sum + Buffer.byteLength(packWhereabouts(piece) ?? ''), 0);
  return Math.ceil(TEXT_FACTOR * texts + places + pieces.length * (CHUNK_BYTES + tags + vectorBytes));
}

/** Reservations of documents that are no longer in `ingests` are removed. Whatever ends an ingest takes it out of there. */
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
