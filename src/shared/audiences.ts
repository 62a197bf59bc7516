import { callerTags, type Audience, type CallerTags } from './audience.js';
import { clearScript, collectScript, registerScript, TOO_MANY_WAITING } from './audience-scripts.js';
import { AppError } from './errors.js';
import { accessToken } from './filter-tokens.js';
import { keys } from './keys.js';
import type { Redis } from './redis.js';

/** Of one owner, that a caller asks for one by one: where there are more, they ask for all of the owner. */
const MOST_OF_OWNER = 64;
/** Of all owners: where there are more, a caller asks for all that there are. */
const MOST_OF_CALLER = 512;
/** Callers whose tags are remembered. */
const CALLERS_KNOWN = 512;
/** Callers of a step in Redis, which takes a millisecond or two; and audiences removed at a time. */
const STEP = 500;

export type Audiences = ReturnType<typeof createAudiences>;

/** The large audiences in Redis, and what each caller asks for. */
export function createAudiences(redis: Redis) {
  const scriptKeys = [
    ...[keys.unreferencedAudiences, keys.audienceOwners, keys.audienceOverflows, keys.audiencesWaiting],
  ];
  const prefixes = [keys.audiencesOf(''), keys.audienceOverflow('')];

  const clearOverflow = async (owner: string): Promise<void> => {
    const request = { keys: scriptKeys, arguments: [owner, String(STEP), ...prefixes] };
    while ((await clearScript.run(redis, request)) === STEP);
  };

  /** Answers whether it is there in the end: it may have been taken away meanwhile. */
  const tryToRegister = async ({ id, owner, callers }: Audience): Promise<boolean> => {
    for (let first = 0; ; first += STEP) {
      const done = await registerScript.run(redis, {
        keys: [keys.audience(id), ...scriptKeys],
        arguments: [
          ...[
            id,
            owner,
            first === 0 ? callers.join('') : '',
            String(Date.now()),
            String(first),
            String(STEP),
          ],
          ...[String(MOST_OF_OWNER), String(MOST_OF_CALLER), ...prefixes],
        ],
      });
      if (done === TOO_MANY_WAITING) throw tooManyLists();
      if (done !== 0) return done > 0;
    }
  };

  const collectOne = async (id: string, time: number): Promise<boolean> => {
    for (let first = 0; ; first += STEP) {
      const done = await collectScript.run(redis, {
        keys: [keys.audience(id), ...scriptKeys],
        arguments: [id, String(time), String(first), String(STEP), ...prefixes],
      });
      if (done !== 0) return done > 0;
    }
  };

  return {
    /**
     * From now on its callers ask for it. It goes again unless a record refers to it within the sweeper's grace.
     * @throws AppError 429 when its owner has too many that no record refers to
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
      for (const owner of await redis.sMembers(keys.audienceOverflows)) await clearOverflow(owner);
      return removed;
    },
  };
}

const RETRY_AFTER_SECONDS = 60;

const tooManyLists = () =>
  new AppError(
    429,
    'access_control: too many lists of more than 16 users were changed within the last minutes',
    {
      headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    },
  );

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
