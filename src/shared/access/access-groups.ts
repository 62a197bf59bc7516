import { at } from '../at.js';
import { ANSWER } from '../documents/commit/answers.js';
import { InvalidFieldError, TooManyError } from '../errors.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { declareScript, evenWhenFull } from '../redis/script.js';
import { MAX_DIRECT, type AccessGroup } from './access.js';

/** A caller can be in this many groups of one owner, because the engine takes a millisecond for that many tags. */
const MAX_OF_OWNER = 256;
/** The register script's answer for the first caller who is in too many groups; each caller after that is one less. */
const FIRST_REFUSED = -100;
/** Callers that one script handles, which takes Redis a millisecond or two; also the groups that are removed at a time. */
const STEP = 500;

export type AccessGroups = ReturnType<typeof createAccessGroups>;

/** The access groups that Redis holds. */
export function createAccessGroups(redis: Redis) {
  return {
    /**
     * Makes queries of the group's callers name it from now on. The sweeper removes it after a while unless a record
     * refers to it.
     * @throws TooManyError when too many groups of its owner have no record that refers to them
     * @throws InvalidFieldError when a caller is in too many groups of the owner already
     */
    register: async (group: AccessGroup): Promise<void> => {
      while (!(await tryToRegister(redis, group)));
    },

    /** Removes the groups that no record has referred to since `time`, in ms; answers how many. */
    collect: async (time: number): Promise<number> => {
      let removed = 0;
      const limit = { offset: 0, count: STEP };
      for (const id of await redis.zRangeByScore(keys.unreferencedAccessGroups, 0, time, { LIMIT: limit }))
        if (await collectOne(redis, id, time)) removed += 1;
      await replaceMarks(redis);
      return removed;
    },
  };
}

/** The keys that scripts about a group are given beside the group's own. */
const sharedKeys = {
  unreferenced: keys.unreferencedAccessGroups,
  owners: keys.accessGroupOwners,
  waiting: keys.accessGroupsWaiting,
} as const;

/** The sets of one step's worth of callers. */
const setsOf = (callers: readonly string[], first: number): string[] =>
  callers.slice(first, first + STEP).map(keys.accessGroupsOf);

/** The callers that a group notes. A group has the same ones for as long as it is there, since its id is made of them. */
async function readCallers(redis: Redis, group: string): Promise<string[]> {
  const callers = (await redis.hGet(group, 'callers')) ?? '';
  return Array.from({ length: callers.length / TAG_DIGITS }, (_, i) =>
    callers.slice(i * TAG_DIGITS, (i + 1) * TAG_DIGITS),
  );
}

/** Answers whether the group is registered in the end: it may have been removed meanwhile. */
async function tryToRegister(redis: Redis, group: AccessGroup): Promise<boolean> {
  const { id, owner, callers } = group;
  for (let first = 0; ;) {
    const done = await registerFrom(redis, group, first);
    if (done === TOO_MANY_WAITING) throw tooManyChanges();
    if (done > 0) return true;
    if (done === -1) return false;
    if (done === 0) first += STEP;
    else if (!(await makeRoom(redis, { owner, caller: at(callers, FIRST_REFUSED - done), except: id }))) {
      await collectOne(redis, id, Date.now());
      throw tooManyLists();
    }
  }
}

/** Registers the group with one step's worth of its callers; answers as `registerScript` does. */
function registerFrom(
  redis: Redis,
  { id, owner, ownCaller, callers }: AccessGroup,
  first: number,
): Promise<number> {
  return registerScript.run(redis, {
    keys: { ...sharedKeys, group: keys.accessGroup(id), sets: setsOf(callers, first) },
    args: {
      id,
      owner,
      callers: first === 0 ? callers.join('') : '',
      now: Date.now(),
      start: first,
      ownSet: ownCaller === null ? '' : keys.accessGroupsOf(ownCaller),
    },
  });
}

/**
 * Removes one of the owner's groups that a caller is in: the group that has been without a record for longest. False
 * without such a group.
 */
async function makeRoom(
  redis: Redis,
  { owner, caller, except }: { owner: string; caller: string; except: string },
): Promise<boolean> {
  const found = await redis.zRange(keys.accessGroupsOf(caller), `[${owner}:`, `(${owner};`, { BY: 'LEX' });
  const ids = found.map((member) => member.slice(owner.length + 1)).filter((id) => id !== except);
  if (ids.length === 0) return false;
  const times = await redis.zmScore(keys.unreferencedAccessGroups, ids);
  const unused = ids.flatMap((id, i) => (times[i] == null ? [] : [{ id, time: times[i] }]));
  const oldest = unused.sort((a, b) => a.time - b.time)[0];
  if (!oldest) return false;
  await collectOne(redis, oldest.id, Date.now());
  return true;
}

/** Removes a group when no record has referred to it since `time`; answers whether it did. */
async function collectOne(redis: Redis, id: string, time: number): Promise<boolean> {
  const group = keys.accessGroup(id);
  const callers = await readCallers(redis, group);
  for (let first = 0; ; first += STEP) {
    const done = await collectScript.run(redis, {
      keys: { ...sharedKeys, group, sets: setsOf(callers, first) },
      args: { id, time, start: first },
    });
    if (done !== 0) return done > 0;
  }
}

/** Adds every group to the sets of all of its callers, so that the marks of earlier versions can go. */
async function replaceMarks(redis: Redis): Promise<void> {
  const marks = await redis.sMembers(keys.accessGroupOverflows);
  if (marks.length === 0) return;
  const prefix = keys.accessGroup('');
  for await (const page of redis.scanIterator({ MATCH: `${prefix}*`, COUNT: STEP }))
    for (const key of page) await tell(redis, key, key.slice(prefix.length));
  for (const owner of marks) while ((await clearSome(redis, owner)) > 0);
}

async function clearSome(redis: Redis, owner: string): Promise<number> {
  const overflow = keys.accessGroupOverflow(owner);
  const callers = await redis.sRandMemberCount(overflow, STEP);
  await clearScript.run(redis, {
    keys: { overflow, overflows: keys.accessGroupOverflows, sets: callers.map(keys.accessGroupsOf) },
    args: { owner, callers },
  });
  return callers.length;
}

async function tell(redis: Redis, group: string, id: string): Promise<void> {
  const callers = await readCallers(redis, group);
  for (let first = 0; first < callers.length; first += STEP)
    await tellScript.run(redis, { keys: { group, sets: setsOf(callers, first) }, args: { id } });
}

const RETRY_AFTER_SECONDS = 60;

const tooManyChanges = () =>
  new TooManyError(
    `access_control: too many lists of more than ${String(MAX_DIRECT)} users were changed within the last minutes`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );

const tooManyLists = () =>
  new InvalidFieldError(
    'access_control',
    `somebody here is in ${String(MAX_OF_OWNER)} different lists of more than ${String(MAX_DIRECT)} readers of this owner already: give more documents the same lists, or shorter ones`,
    { value: MAX_OF_OWNER, of: 'items' },
  );

/** A caller's tag in the list of a group has this many digits. */
const TAG_DIGITS = 24;

/*
 * A hash holds each access group: the tag of its owner, the tags of its callers and how many records refer to it. A sorted
 * set of equal scores holds, for each caller, the groups that the caller is in, as `owner:group`.
 * The number of an owner's groups in such a set is limited, and an owner who would exceed it is refused, so that nobody
 * can make another caller's queries large. Data of earlier versions may have `owner:*` or `*` in these sets, which stand
 * for all groups of an owner and for all groups; the sweeper replaces them by the groups themselves.
 */

/**
 * The maximum of callers, added up over the groups of one owner that no record refers to. Each takes 200 bytes until the
 * sweeper removes the group.
 */
const MAX_WAITING = 100_000;
/** The script's answer when the owner has reached that number. */
const TOO_MANY_WAITING = -5;

/** Takes a group out of the unreferenced ones, and its callers out of the owner's number of waiting callers. */
const LEAVE = `
local function leave(unreferenced, waiting, group, id)
  if redis.call('ZREM', unreferenced, id) == 0 then return end
  local found = redis.call('HMGET', group, 'owner', 'callers')
  if not found[1] then return end
  local left = redis.call('HINCRBY', waiting, found[1], -#(found[2] or '') / ${String(TAG_DIGITS)})
  if left <= 0 then redis.call('HDEL', waiting, found[1]) end
end
`;

/**
 * Adds an access group to the sets of some of its callers; answers 1 when these were the last, else 0. Registering starts
 * with the first caller, which ends a removal that is under way; a removal that starts meanwhile makes it start again
 * (-1). A caller who is in too many groups of the owner already stops it: -100 for the first caller, -101 for the second,
 * and so on. The field `references` exists only once all callers have the group, and no record can refer to it before.
 */
const registerScript = declareScript({
  keys: { group: 'key', unreferenced: 'key', owners: 'key', waiting: 'key', sets: 'keys' },
  args: { id: 'text', owner: 'text', callers: 'text', now: 'text', start: 'number', ownSet: 'text' },
}).lua<number>(`
local references = redis.call('HGET', group, 'references')
if references and tonumber(references) > 0 then return 1 end
if not references and start == 0 and redis.call('HEXISTS', group, 'callers') == 0
  and tonumber(redis.call('HGET', waiting, owner) or '0') >= ${String(MAX_WAITING)} then
  return ${String(TOO_MANY_WAITING)}
end
if redis.call('ZADD', unreferenced, now, id) == 1 then
  redis.call('HINCRBY', waiting, owner, #(redis.call('HGET', group, 'callers') or callers) / ${String(TAG_DIGITS)})
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
for i, set in ipairs(sets) do
  if set ~= ownSet then
    if redis.call('ZCARD', set) >= ${String(MAX_OF_OWNER)} and not redis.call('ZSCORE', set, member)
      and redis.call('ZLEXCOUNT', set, first, last) >= ${String(MAX_OF_OWNER)} then
      return ${String(FIRST_REFUSED)} - start - i + 1
    end
    redis.call('ZADD', set, 0, member)
  end
end
if (start + #sets) * ${String(TAG_DIGITS)} < #callers then return 0 end
redis.call('HSET', group, 'references', '0')
return 1
`);

/**
 * Takes an access group out of the sets of some of its callers when no record has referred to it since the given time.
 * Answers 1 when the group is gone, 0 when callers are left, -1 when it has to stay. From the first step on no record can
 * refer to the group before it is registered again.
 */
const collectScript = declareScript({
  keys: { group: 'key', unreferenced: 'key', owners: 'key', waiting: 'key', sets: 'keys' },
  args: { id: 'text', time: 'number', start: 'number' },
}).lua<number>(`${LEAVE}
${evenWhenFull('hash', 'group')}
local since = redis.call('ZSCORE', unreferenced, id)
if not since or tonumber(since) > time then return -1 end
local found = redis.call('HMGET', group, 'owner', 'callers', 'references')
local owner, callers, references = found[1], found[2], found[3]
if not callers or (references and tonumber(references) > 0) then
  leave(unreferenced, waiting, group, id)
  return -1
end
if start > 0 and redis.call('HEXISTS', group, 'collecting') == 0 then return -1 end
-- The group came back since its callers were read.
if #sets == 0 then return -1 end
redis.call('HSET', group, 'collecting', '1')
redis.call('HDEL', group, 'references')
for _, set in ipairs(sets) do redis.call('ZREM', set, owner .. ':' .. id) end
if (start + #sets) * ${String(TAG_DIGITS)} < #callers then return 0 end
leave(unreferenced, waiting, group, id)
redis.call('DEL', group)
for _, whose in ipairs({ owner, '*' }) do
  if redis.call('HINCRBY', owners, whose, -1) <= 0 then redis.call('HDEL', owners, whose) end
end
return 1
`);

/** Adds a group of an earlier version to the sets of some of its callers, whatever the limit. */
const tellScript = declareScript({ keys: { group: 'key', sets: 'keys' }, args: { id: 'text' } }).lua<number>(`
local found = redis.call('HMGET', group, 'owner', 'callers', 'references')
if not found[2] or not found[3] then return 0 end
for _, set in ipairs(sets) do redis.call('ZADD', set, 0, found[1] .. ':' .. id) end
return 1
`);

/** Takes the mark of an owner, or of all owners (`*`), out of the sets of some callers. */
const clearScript = declareScript({
  keys: { overflow: 'key', overflows: 'key', sets: 'keys' },
  args: { owner: 'text', callers: 'list' },
}).lua<number>(`
local mark = owner == '*' and '*' or owner .. ':*'
for i, set in ipairs(sets) do
  redis.call('ZREM', set, mark)
  redis.call('SREM', overflow, callers[i])
end
if redis.call('EXISTS', overflow) == 0 then redis.call('SREM', overflows, owner) end
return #sets
`);

/** Access lists may change faster than chunks are re-tagged, and a group of 3,000 callers takes 72 KB. */
const MAX_ACCESS_GROUPS = 32;

/**
 * A part of the commit script that runs before anything is written. The field `audiences` of a record names the groups
 * that the tags of its chunks may name: the present one, and while the chunks are being re-tagged also the earlier ones.
 * `change.groups` is null where none of that changes. The local `groups` holds the keys of groups by their ids.
 */
export const REQUIRE_ACCESS_GROUPS = `
local held, referred, isReferenceChange = {}, {}, type(change.groups) == 'table' or change.removed
if isReferenceChange then
  for id in string.gmatch(redis.call('HGET', record, 'audiences') or '', '%x+') do
    if not groups[id] then return ${String(ANSWER.otherAccessGroups)} end
    held[id] = true
  end
  if not change.removed then
    for _, id in ipairs(change.groups) do referred[id] = true end
    if change.keepsAccessGroups then for id in pairs(held) do referred[id] = true end end
  end
  local names, isNew = 0, false
  for id in pairs(referred) do
    names = names + 1
    if not held[id] then isNew = true end
  end
  if isNew and names > ${String(MAX_ACCESS_GROUPS)} then return ${String(ANSWER.tooManyAccessGroups)} end
  for id in pairs(referred) do
    if not held[id] and redis.call('HEXISTS', groups[id], 'references') == 0 then return ${String(ANSWER.unknownAccessGroup)} end
  end
end
`;

/** A part of the commit script that runs after the record was written or removed. */
export const REFER_TO_ACCESS_GROUPS = `${LEAVE}
if isReferenceChange then
  local names = {}
  for id in pairs(referred) do
    names[#names + 1] = id
    if not held[id] and redis.call('HINCRBY', groups[id], 'references', 1) == 1 then
      leave(unreferenced, waiting, groups[id], id)
    end
  end
  for id in pairs(held) do
    if not referred[id] and redis.call('HEXISTS', groups[id], 'references') == 1
      and redis.call('HINCRBY', groups[id], 'references', -1) == 0 then
      local found = redis.call('HMGET', groups[id], 'owner', 'callers')
      if redis.call('ZADD', unreferenced, change.now, id) == 1 and found[1] then
        redis.call('HINCRBY', waiting, found[1], #found[2] / ${String(TAG_DIGITS)})
      end
    end
  end
  if #names > 0 then redis.call('HSET', record, 'audiences', table.concat(names, ','))
  elseif not change.removed then redis.call('HDEL', record, 'audiences') end
end
`;
