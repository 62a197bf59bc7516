import { defineScript, type CommandParser } from 'redis';

/*
 * Scripts that read many hashes at once: with a command for each, most of the time goes into commands. A reply is flat,
 * two values a hash, both null where there is none. It ends early, but not before the first hash, once it is so large
 * that Redis has been held up for a millisecond or two: the rest is asked for again.
 */
const ENOUGH_BYTES = 2 ** 19;

const define = (fields: readonly string[], pack: string) =>
  defineScript({
    SCRIPT: `
local values, bytes, enough = {}, 0, tonumber(ARGV[1])
for i = 1, #KEYS do
  local row = redis.call('HMGET', KEYS[i], unpack(ARGV, 2))
  local first, second = false, false
  ${pack}
  values[2 * i - 1], values[2 * i] = first, second
  if first and second then bytes = bytes + #first + #second end
  if bytes >= enough then break end
end
return values
`,
    // Not marked as read-only: EVALSHA_RO came with Redis 7.
    parseCommand(parser: CommandParser, names: string[], more: readonly string[] = []) {
      parser.pushKeysLength(names);
      parser.push(String(ENOUGH_BYTES), ...fields, ...more);
    },
    transformReply: (reply: (string | Buffer | null)[]) => reply,
  });

/** Vector and packed terms of chunks; takes the name of the vector's field. */
export const readChunkHashes = define(['terms'], 'first, second = row[2], row[1]');

/** Access lists of records, a line each, and a JSON list of the other fields that the mirror keeps. */
export const readRecordHashes = define(
  ['readers', 'writers', 'admins', 'createdAt', 'metadata', 'published', 'pending'],
  `if row[4] then
    for j = 1, #row do row[j] = row[j] or 'null' end
    first = table.concat(row, '\\n', 1, 3)
    second = '[' .. table.concat(row, ',', 4) .. ']'
  end`,
);
