import { defineScript, type CommandParser } from 'redis';

/*
 * Scripts that read many hashes at once, because a command for each hash would take most of the time. A reply is a flat list
 * with two values for each hash, both null where there is none. It ends after the hash that makes it so large that Redis is
 * held up for a millisecond or two; the client then asks for the rest.
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
    // The script is not marked as read-only, because EVALSHA_RO needs Redis 7.
    parseCommand(parser: CommandParser, names: string[], more: readonly string[] = []) {
      parser.pushKeysLength(names);
      parser.push(String(ENOUGH_BYTES), ...fields, ...more);
    },
    transformReply: (reply: (string | Buffer | null)[]) => reply,
  });

/** Reads vectors and packed terms of chunks. Takes the name of the vector's field. */
export const readChunkHashes = define(['terms'], 'first, second = row[2], row[1]');

/** Reads the packed terms of chunks alone: one value for each, null where there is none. */
export const readChunkTerms = defineScript({
  SCRIPT: `
local values, bytes, enough = {}, 0, tonumber(ARGV[1])
for i = 1, #KEYS do
  local terms = redis.call('HGET', KEYS[i], 'terms')
  values[i] = terms
  if terms then bytes = bytes + #terms end
  if bytes >= enough then break end
end
return values
`,
  parseCommand(parser: CommandParser, names: string[]) {
    parser.pushKeysLength(names);
    parser.push(String(ENOUGH_BYTES));
  },
  transformReply: (reply: (string | Buffer | null)[]) => reply,
});

/** Reads the access lists of records, one a line, and a JSON list of the other fields that the mirror keeps. */
export const readRecordHashes = define(
  [
    'readers',
    'writers',
    'admins',
    'createdAt',
    'ownerId',
    'metadata',
    'published',
    'pending',
    'prepared',
    'updatedAt',
    'retag',
  ],
  `if row[4] then
    for j = 1, #row do row[j] = row[j] or 'null' end
    first = table.concat(row, '\\n', 1, 3)
    second = '[' .. table.concat(row, ',', 4) .. ']'
  end`,
);
