import { at } from '../at.js';
import type { DocumentRecord } from '../document.js';
import { defineScript, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { absentIfMalformed, parseRecord, RECORD_FIELDS, type OnMalformed } from './record-fields.js';

/**
 * Reads the first of some records, at least one, and ends after the one with which their fields
 * have `enoughBytes`. An entry is null where the record does not exist or cannot be read.
 */
export async function readRecords(
  redis: Redis,
  ids: readonly string[],
  { enoughBytes, onMalformed }: { readonly enoughBytes: number; readonly onMalformed: OnMalformed },
): Promise<(DocumentRecord | null)[]> {
  if (ids.length === 0) return [];
  const rows = await script.run(redis, {
    keys: ids.map(keys.document),
    arguments: [String(enoughBytes), ...RECORD_FIELDS],
  });
  return rows.map((row, i) => {
    try {
      return parseRecord(row);
    } catch (error) {
      return absentIfMalformed(at(ids, i), onMalformed)(error);
    }
  });
}

const script = defineScript<(string | null)[][]>(`
local rows, bytes, enough = {}, 0, tonumber(ARGV[1])
for i, key in ipairs(KEYS) do
  local row = redis.call('HMGET', key, unpack(ARGV, 2))
  rows[i] = row
  for j = 1, #row do bytes = bytes + #(row[j] or '') end
  if bytes >= enough then break end
end
return rows`);
