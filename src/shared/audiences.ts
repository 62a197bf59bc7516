import { callerTags, type Audience, type CallerTags } from './audience.js';
import {
  clearScript,
  collectScript,
  registerScript,
  tellScript,
  TOO_MANY_WAITING,
} from './audience-scripts.js';
import { AppError } from './errors.js';
import { accessToken } from './filter-tokens.js';
import { keys } from './keys.js';
import type { Redis } from './redis.js';

/** Of one owner, that a caller can be in: the engine takes a millisecond for so many tags. */
const MOST_OF_OWNER = 256;
/** What the register script answers for the first caller who is in so many; one less for each after. */
const FIRST_REFUSED = -100;
/** Callers whose tags are remembered. */
const CALLERS_KNOWN = 512;
/** Callers of a step in Redis, which takes a millisecond or two; and audiences removed at a time. */
const STEP = 500;

export type Audiences = ReturnType<typeof createAudiences>;

/** The large audiences in Redis, and what each caller asks for. */
export function createAudiences(redis: Redis) {
  const scriptKeys = [keys.unreferencedAudiences, keys.audienceOwners, keys.audiencesWaiting];
  const setPrefix = keys.audiencesOf('');

  /** Removes the owner's audience of a caller that no record has referred to for longest; false where there is none. */
  const makeRoom = async (owner: string, caller: string, except: string): Promise<boolean> => {
    const found = await redis.zRange(keys.audiencesOf(caller), `[${owner}:`, `(${owner};`, { BY: 'LEX' });
    const ids = found.map((member) => member.slice(owner.length + 1)).filter((id) => id !== except);
    if (ids.length === 0) return false;
    const times = await redis.zmScore(keys.unreferencedAudiences, ids);
    const unused = ids.flatMap((id, i) => (times[i] == null ? [] : [{ id, time: times[i] }]));
    const oldest = unused.sort((a, b) => a.time - b.time)[0];
    if (!oldest) return false;
    await collectOne(oldest.id, Date.now());
    return true;
  };

  /** Answers whether it is there in the end: it may have been taken away meanwhile. */
  const tryToRegister = async ({ id, owner, ownCaller, callers }: Audience): Promise<boolean> => {
    for (let first = 0; ;) {
      const done = await registerScript.run(redis, {
        keys: [keys.audience(id), ...scriptKeys],
        arguments: [
          ...[id, owner, first === 0 ? callers.join('') : '', String(Date.now())],
          ...[String(first), String(STEP), String(MOST_OF_OWNER), setPrefix, ownCaller ?? ''],
        ],
      });
      if (done === TOO_MANY_WAITING) throw tooManyChanges();
      if (done > 0) return true;
      if (done === -1) return false;
      if (done === 0) first += STEP;
      else if (!(await makeRoom(owner, callers[FIRST_REFUSED - done] ?? '', id))) {
        await collectOne(id, Date.now());
        throw tooManyLists();
      }
    }
  };

  const collectOne = async (id: string, time: number): Promise<boolean> => {
    for (let first = 0; ; first += STEP) {
      const done = await collectScript.run(redis, {
        keys: [keys.audience(id), ...scriptKeys],
        arguments: [id, String(time), String(first), String(STEP), setPrefix],
      });
      if (done !== 0) return done > 0;
    }
  };

  /** Tells all audiences to all of their callers, so that nobody needs to ask for more than those. */
  const replaceMarks = async (): Promise<void> => {
    const marks = await redis.sMembers(keys.audienceOverflows);
    if (marks.length === 0) return;
    const prefix = keys.audience('');
    for await (const page of redis.scanIterator({ MATCH: `${prefix}*`, COUNT: STEP }))
      for (const key of page) await tell(key, key.slice(prefix.length));
    for (const owner of marks) {
      const marked = [keys.audienceOverflow(owner), keys.audienceOverflows];
      const request = { keys: marked, arguments: [owner, String(STEP), setPrefix] };
      while ((await clearScript.run(redis, request)) === STEP);
    }
  };

  const tell = async (key: string, id: string): Promise<void> => {
    for (let first = 0; ; first += STEP) {
      const request = { keys: [key], arguments: [id, String(first), String(STEP), setPrefix] };
      if ((await tellScript.run(redis, request)) === 1) return;
    }
  };

  return {
    /**
     * From now on its callers ask for it. It goes again unless a record refers to it within the sweeper's grace.
     * @throws AppError 429 when its owner has too many that no record refers to, 422 when a caller is in too many of the
     * owner already
     */
    register: async (audience: Audience): Promise<void> => {
      while (!(await tryToRegister(audience)));
    },

    /** Removes those that no record has referred to since before `time`; answers how many. */
    collect: async (time: number): Promise<number> => {
      let removed = 0;
      const limit = { offset: 0, count: STEP };
      for (const id of await redis.zRangeByScore(keys.unreferencedAudiences, 0, time, { LIMIT: limit }))
        if (await collectOne(id, time)) removed += 1;
      await replaceMarks();
      return removed;
    },
  };
}

const RETRY_AFTER_SECONDS = 60;

const tooManyChanges = () =>
  new AppError(
    429,
    'access_control: too many lists of more than 16 users were changed within the last minutes',
    {
      headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    },
  );

const tooManyLists = () =>
  new AppError(422, [
    {
      loc: ['body', 'access_control'],
      msg: `somebody here is in ${String(MOST_OF_OWNER)} different lists of more than 16 readers of this owner already: give more documents the same lists, or shorter ones`,
      type: 'value_error.list.max_items',
      ctx: { limit_value: MOST_OF_OWNER },
    },
  ]);

/** Asks by what a caller may read. */
export type AskAs = <Answer>(
  callerId: string,
  ask: (caller: CallerTags) => Promise<Answer>,
) => Promise<Answer>;

/**
 * Asks by the tags of a caller, again if the caller came into another audience meanwhile: a document may have changed to
 * it from one that was asked for. Tags are remembered, so that only the second look costs a round trip.
 */
export function createAskAs(redis: Redis): AskAs {
  const known = new Map<string, readonly string[]>();
  const read = async (callerId: string) => {
    const members = await redis.zRange(keys.audiencesOf(accessToken(callerId)), 0, -1);
    // A map keeps the order of insertion: the first was asked for longest ago.
    known.delete(callerId);
    if (members.length > 0) known.set(callerId, members);
    for (const oldest of known.keys()) {
      if (known.size <= CALLERS_KNOWN) break;
      known.delete(oldest);
    }
    return members;
  };
  return async (callerId, ask) => {
    for (let asked = known.get(callerId) ?? []; ;) {
      const answer = await ask(callerTags(callerId, asked));
      const members = await read(callerId);
      const had = new Set(asked);
      if (members.every((member) => had.has(member))) return answer;
      asked = members;
    }
  };
}
