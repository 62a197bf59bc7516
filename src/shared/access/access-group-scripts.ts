import { defineScript } from '../redis/client.js';

/*
 * Redis holds of an access group, in a hash, the token of its owner, the tokens of its callers (24 digits each) and how
 * many records refer to it; and of each caller, in a sorted set of equal scores, the access groups that they are in, as
 * `owner:access group`. There is a limit to these for each owner, and an owner who would add more is refused: nobody can make
 * another's queries large. Data of earlier versions may have `owner:*` or `*` there, for all of an owner and all that
 * there are, until every access group is told to all of its callers.
 */
const PREAMBLE = `
local TOKEN = 24
local function part(callers, first, count)
  local at = first * TOKEN + 1
  local last = math.min(#callers, at + count * TOKEN - 1)
  return function()
    if at > last then return nil end
    local caller = string.sub(callers, at, at + TOKEN - 1)
    at = at + TOKEN
    return caller
  end, last >= #callers
end
`;

/**
 * Callers of an owner's access groups that no record refers to (yet, or any more); 200 bytes each, until the sweeper comes.
 */
const MAX_WAITING = 100_000;
/** What the script answers to an owner of so many. */
export const TOO_MANY_WAITING = -5;

/** An access group leaves the unreferenced ones, and its owner's number of their callers. */
const LEAVE = `
local function leave(unreferenced, waiting, group, id)
  if redis.call('ZREM', unreferenced, id) == 0 then return end
  local found = redis.call('HMGET', group, 'owner', 'callers')
  if not found[1] then return end
  local left = redis.call('HINCRBY', waiting, found[1], -#(found[2] or '') / 24)
  if left <= 0 then redis.call('HDEL', waiting, found[1]) end
end
`;

/**
 * Makes an access group known to some of its callers; answers whether these were the last. What registers begins at the
 * first, which ends a removal; a removal that begins meanwhile makes it begin again (-1). A caller who is in as many of
 * the owner as may be stops it there: -100 for the first caller, -101 for the second. Only an access group that is known to all
 * of its callers has a number of references, without which no record can refer to it.
 */
export const registerScript = defineScript<number>(`${PREAMBLE}
local group, unreferenced, owners, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, owner, callers, now = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local start, step = tonumber(ARGV[5]), tonumber(ARGV[6])
local most, setPrefix, ownCaller = tonumber(ARGV[7]), ARGV[8], ARGV[9]
local references = redis.call('HGET', group, 'references')
if references and tonumber(references) > 0 then return 1 end
if not references and start == 0 and redis.call('HEXISTS', group, 'callers') == 0
  and tonumber(redis.call('HGET', waiting, owner) or '0') >= ${String(MAX_WAITING)} then
  return ${String(TOO_MANY_WAITING)}
end
if redis.call('ZADD', unreferenced, now, id) == 1 then
  redis.call('HINCRBY', waiting, owner, #(redis.call('HGET', group, 'callers') or callers) / TOKEN)
end
if references then return 1 end
if start == 0 then
  redis.call('HDEL', group, 'collecting')
elseif redis.call('HEXISTS', group, 'collecting') == 1 then
  return -1
end
if start == 0 and redis.call('HSETNX', group, 'callers', callers) == 1 then
  redis.call('HSET', group, 'owner', owner)
  redis.call('HINCRBY', owners, owner, 1)
  redis.call('HINCRBY', owners, '*', 1)
end
callers = redis.call('HGET', group, 'callers')
if not callers then return -1 end
local member, first, last = owner .. ':' .. id, '[' .. owner .. ':', '(' .. owner .. ';'
local each, isLast = part(callers, start, step)
local at = start
for caller in each do
  local set = setPrefix .. caller
  if caller ~= ownCaller then
    if redis.call('ZCARD', set) >= most and not redis.call('ZSCORE', set, member)
      and redis.call('ZLEXCOUNT', set, first, last) >= most then return -100 - at end
    redis.call('ZADD', set, 0, member)
  end
  at = at + 1
end
if not isLast then return 0 end
redis.call('HSET', group, 'references', '0')
return 1
`);

/**
 * Takes an access group that no record has referred to since the given time from some of its callers; answers whether it is
 * gone; -1 when it is to stay. From the first step on no record can refer to it before it is registered anew.
 */
export const collectScript = defineScript<number>(
  `${PREAMBLE}${LEAVE}
local group, unreferenced, owners, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, time, start, step, setPrefix = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local since = redis.call('ZSCORE', unreferenced, id)
if not since or tonumber(since) > tonumber(time) then return -1 end
local found = redis.call('HMGET', group, 'owner', 'callers', 'references')
local owner, callers, references = found[1], found[2], found[3]
if not callers or (references and tonumber(references) > 0) then
  leave(unreferenced, waiting, group, id)
  return -1
end
if start > 0 and redis.call('HEXISTS', group, 'collecting') == 0 then return -1 end
redis.call('HSET', group, 'collecting', '1')
redis.call('HDEL', group, 'references')
local each, isLast = part(callers, start, step)
for caller in each do redis.call('ZREM', setPrefix .. caller, owner .. ':' .. id) end
if not isLast then return 0 end
leave(unreferenced, waiting, group, id)
redis.call('DEL', group)
for _, whose in ipairs({ owner, '*' }) do
  if redis.call('HINCRBY', owners, whose, -1) <= 0 then redis.call('HDEL', owners, whose) end
end
return 1
`,
  { evenWhenFull: true },
);

/** Tells an access group of an earlier version to some of its callers, however many they are in; answers whether these were the last. */
export const tellScript = defineScript<number>(`${PREAMBLE}
local group, start, step, setPrefix = KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local found = redis.call('HMGET', group, 'owner', 'callers', 'references')
if not found[2] or not found[3] then return 1 end
local each, isLast = part(found[2], start, step)
for caller in each do redis.call('ZADD', setPrefix .. caller, 0, found[1] .. ':' .. ARGV[1]) end
return isLast and 1 or 0
`);

/** Takes the marks of an owner, or of all (`*`), from some callers; answers from how many. */
export const clearScript = defineScript<number>(`
local overflow, overflows, owner, step, setPrefix = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
local mark = owner == '*' and '*' or owner .. ':*'
local callers = redis.call('SPOP', overflow, step)
for _, caller in ipairs(callers) do redis.call('ZREM', setPrefix .. caller, mark) end
if redis.call('EXISTS', overflow) == 0 then redis.call('SREM', overflows, owner) end
return #callers
`);

/** What the commit script answers for a record with an access group that nobody knows of: it is to be registered first. */
export const UNKNOWN_ACCESS_GROUP = -2;

/** What it answers for one access group more than chunks that are being re-tagged may name: nothing was changed. */
export const TOO_MANY_ACCESS_GROUPS = -4;
/** A list of 3,000 ids takes 72 KB, and changes may come faster than chunks are re-tagged. */
const MAX_ACCESS_GROUPS = 32;

/**
 * Part of the commit script, before anything is written. A record holds the names of the access groups that the tags of its
 * chunks may name: its own, and while they are being rewritten, those before. `change.access groups` is null where nothing
 * of that changes.
 */
export const REQUIRE_ACCESS_GROUPS = `
local held, referred, isReferenceChange = {}, {}, type(change.groups) == 'table' or change.removed
if isReferenceChange then
  for id in string.gmatch(redis.call('HGET', record, 'audiences') or '', '%x+') do held[id] = true end
  if not change.removed then
    for _, id in ipairs(change.groups) do referred[id] = true end
    if change.keepsAccessGroups then for id in pairs(held) do referred[id] = true end end
  end
  local names, isNew = 0, false
  for id in pairs(referred) do
    names = names + 1
    if not held[id] then isNew = true end
  end
  if isNew and names > ${String(MAX_ACCESS_GROUPS)} then return ${String(TOO_MANY_ACCESS_GROUPS)} end
  for id in pairs(referred) do
    if not held[id] and redis.call('HEXISTS', accessGroupPrefix .. id, 'references') == 0 then return ${String(UNKNOWN_ACCESS_GROUP)} end
  end
end
`;

/** Part of the commit script, after the record was written or removed. */
export const REFER_TO_ACCESS_GROUPS = `${LEAVE}
if isReferenceChange then
  local names = {}
  for id in pairs(referred) do
    names[#names + 1] = id
    if not held[id] and redis.call('HINCRBY', accessGroupPrefix .. id, 'references', 1) == 1 then
      leave(unreferenced, waiting, accessGroupPrefix .. id, id)
    end
  end
  for id in pairs(held) do
    if not referred[id] and redis.call('HEXISTS', accessGroupPrefix .. id, 'references') == 1
      and redis.call('HINCRBY', accessGroupPrefix .. id, 'references', -1) == 0 then
      local found = redis.call('HMGET', accessGroupPrefix .. id, 'owner', 'callers')
      if redis.call('ZADD', unreferenced, change.now, id) == 1 and found[1] then
        redis.call('HINCRBY', waiting, found[1], #found[2] / 24)
      end
    end
  end
  if #names > 0 then redis.call('HSET', record, 'audiences', table.concat(names, ','))
  elseif not change.removed then redis.call('HDEL', record, 'audiences') end
end
`;
