import { declareScript, evenWhenFull } from '../redis/script.js';
import { CHANGE_FUNCTION, COUNT_FUNCTION } from '../term-statistics/count-steps.js';

/* The parts expect the locals that scripts declare under the same names. */

/** Refuses writes into a generation that was discarded or never opened. */
const GUARD = `
if redis.call('HEXISTS', generation, 'document') == 0 or redis.call('HEXISTS', generation, 'discarded') == 1 then
  return -1
end
`;

/** Refuses tags that were made of an older state of the record. */
const AT_REVISION = `
if redis.call('HGET', record, 'revision') ~= revision then return 0 end
`;

/**
 * A generation notes the name of its chunks' tags, and how many chunks in a row from 0 have them. A write that
 * continues such a row checks it, since a Redis that came back without its last writes may have lost it.
 */
const NOTE_TAGS = `
local function taggedUpTo(generation, name)
  local known, count = string.match(redis.call('HGET', generation, 'tagged') or '', '^(.*):(%d+)$')
  return known == name and tonumber(count) or 0
end
local function noteTags(generation, name, from, count)
  local reached = taggedUpTo(generation, name)
  if reached < from then return end
  redis.call('HSET', generation, 'tagged', name .. ':' .. string.format('%d', math.max(reached, from + count)))
end
`;

/** Writes the next row of fields into each chunk. */
const WRITE_CHUNKS = `
for _, chunk in ipairs(chunks) do redis.call('HSET', chunk, rows()) end
`;

/**
 * Answers -2 when a chunk is to be found by another name of its file than the one in the terms to be written, which `named`
 * is the mark of. It is `*` where no terms are written. Chunks of earlier versions do not say by which name they are found.
 */
const AS_NAMED = `
for _, chunk in ipairs(chunks) do
  local held = redis.call('HGET', chunk, 'named')
  if named ~= '*' and held and held ~= named then return -2 end
end
`;

export const writeScript = declareScript({
  keys: { generation: 'key', chunks: 'keys' },
  args: { named: 'text', rows: 'rows' },
}).lua<number>(`${GUARD}${AS_NAMED}${WRITE_CHUNKS}
return 1`);

/**
 * Writes the texts of consecutive chunks with their tags, and notes in the generation how many texts there are. Refuses
 * texts whose predecessors are missing, which a Redis that came back without its last writes may have lost, and all texts
 * of a generation that is closed: their terms may be counted by now.
 */
export const writeTextsScript = declareScript({
  keys: { generation: 'key', record: 'key', chunks: 'keys' },
  args: { revision: 'text', from: 'number', tagsName: 'text', rows: 'rows' },
}).lua<number>(`${NOTE_TAGS}${GUARD}
if redis.call('HEXISTS', generation, 'chunks') == 1 then return -1 end
${AT_REVISION}
local written = tonumber(redis.call('HGET', generation, 'written') or '0')
if written < from then return redis.error_reply('ERR the texts before these are missing') end
${WRITE_CHUNKS}
redis.call('HSET', generation, 'written', math.max(written, from + #chunks))
if taggedUpTo(generation, tagsName) < from then redis.call('HDEL', generation, 'tagged')
else noteTags(generation, tagsName, from, #chunks) end
return 1`);

/** Answers -2 when the chunks before these have other tags, or have lost theirs. */
export const writeTagsScript = declareScript({
  keys: { generation: 'key', record: 'key', chunks: 'keys' },
  args: { revision: 'text', tags: 'text', tagsName: 'text', from: 'number' },
}).lua<number>(`${NOTE_TAGS}${GUARD}${AT_REVISION}
if taggedUpTo(generation, tagsName) < from then return -2 end
for _, chunk in ipairs(chunks) do redis.call('HSET', chunk, 'tags', tags) end
noteTags(generation, tagsName, from, #chunks)
return 1`);

/**
 * Does the work of the script above, and writes the terms of chunks whose file has another name now, with the changes of
 * the statistics that count them. Answers 0 where a chunk, or its counting owner, is not as it was when these were made.
 */
export const renameScript = declareScript({
  keys: { generation: 'key', record: 'key', statistics: 'key', chunks: 'keys' },
  args: {
    revision: 'text',
    tags: 'text',
    tagsName: 'text',
    from: 'number',
    countedField: 'text',
    partField: 'text',
    counted: 'text',
    part: 'text',
    lengthChange: 'number',
    expected: 'list',
    terms: 'rows',
    rows: 'rows',
  },
}).lua<number>(`${NOTE_TAGS}${CHANGE_FUNCTION}${GUARD}${AT_REVISION}
if taggedUpTo(generation, tagsName) < from then return -2 end
local state = redis.call('HMGET', generation, countedField, partField)
if (state[1] or '') ~= counted or (state[2] or '') ~= part then return 0 end
for i, chunk in ipairs(chunks) do
  local held = redis.call('HGET', chunk, 'named') or ''
  if redis.call('HEXISTS', chunk, 'terms') == 1 then held = held .. '+' end
  if expected[i] ~= '*' and held ~= expected[i] then return 0 end
end
if lengthChange ~= 0 then redis.call('HINCRBY', statistics, 'length', lengthChange) end
change(statistics, 1, terms)
${WRITE_CHUNKS}
for _, chunk in ipairs(chunks) do redis.call('HSET', chunk, 'tags', tags) end
noteTags(generation, tagsName, from, #chunks)
return 1`);

export const closeScript = declareScript({
  keys: { generation: 'key' },
  args: { chunks: 'number', fields: 'list' },
}).lua<number>(`${GUARD}
if tonumber(redis.call('HGET', generation, 'written') or '0') < chunks then
  return redis.error_reply('ERR texts are missing')
end
redis.call('HSET', generation, unpack(fields))
return 1`);

/** Notes in a generation that some of its texts were embedded in parts. */
export const noteInPartsScript = declareScript({ keys: { generation: 'key' }, args: {} })
  .lua<number>(`${GUARD}
redis.call('HSET', generation, 'in_parts', '1')
return 1`);

/**
 * Writes the last chunks of a batch and starts to count the whole batch in one step, so that whatever
 * is counted can be forgotten again. The other chunks, which come first, must be there: a Redis
 * that came back without its last writes may have lost them.
 */
export const countedScript = declareScript({
  keys: { generation: 'key', statistics: 'key', chunks: 'keys' },
  args: { vectorField: 'text', others: 'number', named: 'text', step: 'list', terms: 'rows', rows: 'rows' },
}).lua<number>(`${COUNT_FUNCTION}${GUARD}${AS_NAMED}
for i = 1, others do
  if redis.call('HEXISTS', chunks[i], vectorField) == 0 then
    return redis.error_reply('ERR the batch has no vectors')
  end
end
if #step > 0 then takeStep(generation, statistics, step, terms) end
for i = others + 1, #chunks do redis.call('HSET', chunks[i], rows()) end
return 1`);

/**
 * Marks a batch as embedded. Checks that its parts are there, since a Redis that came
 * back without its last writes may have lost them.
 */
export const finishScript = declareScript({
  keys: { generation: 'key', firstChunk: 'key' },
  args: {
    markField: 'text',
    numberField: 'text',
    vectorField: 'text',
    countedField: 'text',
    partField: 'text',
  },
}).lua<number>(`${GUARD}
if redis.call('HEXISTS', firstChunk, vectorField) == 0 then
  return redis.error_reply('ERR the batch has no vectors')
end
if redis.call('HEXISTS', generation, countedField) == 0 and redis.call('HGET', generation, partField) ~= 'nobody' then
  return redis.error_reply('ERR the batch is not counted')
end
if redis.call('HSETNX', generation, markField, '1') == 1 then
  return redis.call('HINCRBY', generation, numberField, 1)
end
return tonumber(redis.call('HGET', generation, numberField))
`);

/** Tells whether somebody's statistics hold a batch or a part of it, which can only be forgotten by the terms of its chunks. */
const IS_HELD = `
local isHeld = redis.call('HEXISTS', generation, countedField) == 1
  or (redis.call('HGET', generation, partField) or 'nobody') ~= 'nobody'
`;

/**
 * Unlinks chunks of a batch. Answers -1 when the generation is not to be cleaned away any more, and -2 when the batch is still
 * counted.
 */
export const unlinkScript = declareScript({
  keys: { garbage: 'key', generation: 'key', chunks: 'keys' },
  args: { id: 'text', countedField: 'text', partField: 'text' },
}).lua<number>(`
if redis.call('SISMEMBER', garbage, id) == 0 then return -1 end
${IS_HELD}
if isHeld then return -2 end
return redis.call('UNLINK', unpack(chunks))
`);

/**
 * Notes that the next batch of a generation is cleaned away, when neither a chunk nor a count of it is left. Answers 0
 * otherwise: Redis came back with older data then, and the work continues from the notes in it.
 */
export const cleanedScript = declareScript({
  keys: { garbage: 'key', generation: 'key', chunks: 'keys' },
  args: { id: 'text', batch: 'number', countedField: 'text', partField: 'text' },
}).lua<number>(`
${evenWhenFull('hash', 'generation')}
if redis.call('SISMEMBER', garbage, id) == 0 then return -1 end
if tonumber(redis.call('HGET', generation, 'cleaned') or '0') ~= batch then return 0 end
${IS_HELD}
if isHeld then return 0 end
if redis.call('EXISTS', unpack(chunks)) > 0 then return 0 end
redis.call('HSET', generation, 'cleaned', batch + 1)
return 1
`);

/** Removes a generation when this many of its batches are noted as cleaned away. */
export const forgetScript = declareScript({
  keys: { garbage: 'key', generation: 'key', hidden: 'key' },
  args: { id: 'text', cleaned: 'number' },
}).lua<number>(`
if redis.call('SISMEMBER', garbage, id) == 0 then return -1 end
if tonumber(redis.call('HGET', generation, 'cleaned') or '0') ~= cleaned then return 0 end
redis.call('DEL', generation)
redis.call('SREM', hidden, id)
redis.call('SREM', garbage, id)
return 1
`);
