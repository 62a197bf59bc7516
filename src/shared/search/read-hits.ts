import { at } from '../at.js';
import type { ChunkAddress } from '../chunks/fields.js';
import type { MatchableDocument } from '../document.js';
import {
  absentIfMalformed,
  MATCHABLE_FIELDS,
  parseMatchable,
  refuseMalformed,
  type OnMalformed,
} from '../documents/record-fields.js';
import { defineScript, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';

/** What hits are made of; an entry is null where the chunk or record does not exist. */
export interface FoundHits {
  readonly contents: readonly (string | null)[];
  readonly records: readonly (MatchableDocument | null)[];
}

/**
 * Reads the texts of chunks, and then the records of documents as they are at that moment or later. So a text is never
 * returned whose record had already closed or replaced it when the text was read.
 */
export type ReadHits = (
  chunks: readonly ChunkAddress[],
  documentIds: readonly string[],
) => Promise<FoundHits>;

export function createReadHits(redis: Redis, onMalformed: OnMalformed = refuseMalformed): ReadHits {
  const parse = (row: readonly Value[], documentId: string) => {
    try {
      return parseMatchable(row);
    } catch (error) {
      return absentIfMalformed(documentId, onMalformed)(error);
    }
  };
  return async (chunks, documentIds) => {
    const names = [
      ...chunks.map(({ generation, number }) => keys.chunk(generation, number)),
      ...documentIds.map(keys.document),
    ];
    const contents: Value[] = [];
    const records: (MatchableDocument | null)[] = [];
    for (let read = 0; read < names.length; read = contents.length + records.length) {
      const left = Math.max(0, chunks.length - read);
      const [texts, rows] = await script.run(redis, {
        keys: names.slice(read),
        arguments: [String(left), String(ENOUGH_BYTES), ...MATCHABLE_FIELDS],
      });
      contents.push(...texts);
      const first = records.length;
      records.push(...rows.map((row, i) => parse(row, at(documentIds, first + i))));
    }
    return { contents, records };
  };
}

type Value = string | null;

/**
 * Reads everything with one command, since each command costs the client more than the
 * server. A reply ends after the key with which it has become so large that Redis was held up
 * for some milliseconds; the client then asks for the rest.
 */
const ENOUGH_BYTES = 2 ** 21;

const script = defineScript<[contents: Value[], records: Value[][]]>(`
local contents, records, bytes = {}, {}, 0
local texts, enough = tonumber(ARGV[1]), tonumber(ARGV[2])
for i, key in ipairs(KEYS) do
  if i <= texts then
    local content = redis.call('HGET', key, 'content')
    contents[#contents + 1] = content
    bytes = bytes + #(content or '')
  else
    local row = redis.call('HMGET', key, unpack(ARGV, 3))
    records[#records + 1] = row
    for j = 1, #row do bytes = bytes + #(row[j] or '') end
  end
  if bytes >= enough then break end
end
return { contents, records }`);
