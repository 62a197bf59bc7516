import { at } from '../at.js';
import { InvalidFieldError, TooManyError } from '../errors.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import {
  clearScript,
  collectScript,
  registerScript,
  tellScript,
  TOO_MANY_WAITING,
} from './access-group-scripts.js';
import type { AccessGroup } from './access-group.js';

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

/** The keys that every script about a group is given beside the group's own. */
const sharedKeys = [keys.unreferencedAccessGroups, keys.accessGroupOwners, keys.accessGroupsWaiting];
const setPrefix = keys.accessGroupsOf('');

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
    keys: [keys.accessGroup(id), ...sharedKeys],
    arguments: [
      id,
      owner,
      first === 0 ? callers.join('') : '',
      String(Date.now()),
      String(first),
      String(STEP),
      String(MAX_OF_OWNER),
      setPrefix,
      ownCaller ?? '',
    ],
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
  for (let first = 0; ; first += STEP) {
    const done = await collectScript.run(redis, {
      keys: [keys.accessGroup(id), ...sharedKeys],
      arguments: [id, String(time), String(first), String(STEP), setPrefix],
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
  for (const owner of marks) {
    const marked = [keys.accessGroupOverflow(owner), keys.accessGroupOverflows];
    const request = { keys: marked, arguments: [owner, String(STEP), setPrefix] };
    while ((await clearScript.run(redis, request)) === STEP);
  }
}

async function tell(redis: Redis, key: string, id: string): Promise<void> {
  for (let first = 0; ; first += STEP) {
    const request = { keys: [key], arguments: [id, String(first), String(STEP), setPrefix] };
    if ((await tellScript.run(redis, request)) === 1) return;
  }
}

const RETRY_AFTER_SECONDS = 60;

const tooManyChanges = () =>
  new TooManyError(
    'access_control: too many lists of more than 16 users were changed within the last minutes',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );

const tooManyLists = () =>
  new InvalidFieldError(
    'access_control',
    `somebody here is in ${String(MAX_OF_OWNER)} different lists of more than 16 readers of this owner already: give more documents the same lists, or shorter ones`,
    { value: MAX_OF_OWNER, of: 'items' },
  );
