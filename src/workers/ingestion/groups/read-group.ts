import { at } from '../../../shared/at.js';
import type { DocumentRecord } from '../../../shared/document.js';
import { parseRecordList, RECORD_FIELDS } from '../../../shared/documents/record-fields.js';
import { MalformedRecordError } from '../../../shared/errors.js';
import { defineFrequentScript, type Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';

/** The bytes that are read at once, which takes Redis about a millisecond. */
const ENOUGH_BYTES = 512 * 1024;

/** A record with its tags and its short source. */
export interface FoundText {
  readonly record: DocumentRecord;
  readonly tags: string;
  readonly text: string;
}

/**
 * Reads the first of some records with their short sources, at least one. An entry is null where there is no such record, it
 * has no short source, or cannot be read.
 */
export async function readGroup(redis: Redis, ids: readonly string[]): Promise<(FoundText | null)[]> {
  const rows = await readScript.run(redis, {
    keys: ids.map(keys.document),
    arguments: [String(ENOUGH_BYTES), String(RECORD_FIELDS.indexOf('pending') + 1), 'tags', ...RECORD_FIELDS],
  });
  return Array.from({ length: rows.length / 3 }, (_, i) => {
    const [fields, tags, text] = [at(rows, 3 * i), at(rows, 3 * i + 1), at(rows, 3 * i + 2)];
    if (fields === '' || tags === '') return null;
    try {
      return { record: parseRecordList(fields), tags, text };
    } catch (error) {
      // The document's own job reports the fault of the record.
      if (error instanceof MalformedRecordError) return null;
      throw error;
    }
  });
}

/** Answers for each record a JSON list of its fields, its tags, and its source. They are empty where one is missing. */
const readScript = defineFrequentScript<string[]>(`
local rows, bytes, enough, pending = {}, 0, tonumber(ARGV[1]), tonumber(ARGV[2])
for i, key in ipairs(KEYS) do
  local row = redis.call('HMGET', key, unpack(ARGV, 3))
  local fields, source = '', false
  local content = row[pending + 1]
  local place = content and string.match(content, '"storageKey":"(record/[^"]+)"')
  if place then source = redis.call('HGET', key, place) end
  if source then
    for j = 2, #row do row[j] = row[j] or 'null' end
    fields = '[' .. table.concat(row, ',', 2) .. ']'
  end
  rows[3 * i - 2], rows[3 * i - 1], rows[3 * i] = fields, row[1] or '', source or ''
  bytes = bytes + #fields + #rows[3 * i - 1] + #rows[3 * i]
  if bytes >= enough then break end
end
return rows`);
