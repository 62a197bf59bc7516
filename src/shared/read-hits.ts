import type { ChunkAddress } from './chunk-fields.js';
import type { MatchableDocument } from './document.js';
import { keys } from './keys.js';
import { MATCHABLE_FIELDS, parseMatchable } from './records.js';
import { defineScript, type Redis } from './redis.js';

/** What answers are made of; each null where there is none (any more). */
export interface FoundHits {
  readonly contents: readonly (string | null)[];
  readonly records: readonly (MatchableDocument | null)[];
}

/** Reads texts of chunks and, as they stand at the same moment, the records of documents by id. */
export type ReadHits = (
  chunks: readonly ChunkAddress[],
  documentIds: readonly string[],
) => Promise<FoundHits>;

export function createReadHits(redis: Redis): ReadHits {
  return async (chunks, documentIds) => {
    const [contents, rows] = await script.run(redis, {
      keys: [
        ...chunks.map(({ generation, number }) => keys.chunk(generation, number)),
        ...documentIds.map(keys.document),
      ],
      arguments: [String(chunks.length), ...MATCHABLE_FIELDS],
    });
    return { contents, records: rows.map(parseMatchable) };
  };
}

type Value = string | null;

/** One command instead of dozens: each costs the client more than the server. */
const script = defineScript<[contents: Value[], records: Value[][]]>(`
local contents, records = {}, {}
for i, key in ipairs(KEYS) do
  if i <= tonumber(ARGV[1]) then contents[#contents + 1] = redis.call('HGET', key, 'content')
  else records[#records + 1] = redis.call('HMGET', key, unpack(ARGV, 2)) end
end
return { contents, records }`);
