import { at } from '../at.js';
import { defineScript } from '../redis/client.js';
import { fromMember, toMember } from '../redis/keys.js';
import type { CountState, CountStep } from './parts.js';

/** A command in a script takes this many values at a time, since Redis passes them on a stack of a few thousand. */
const MAX_GROUP_SIZE = 1_000;

/**
 * The two fields of a generation about a batch: whose term statistics hold all of it; and how far a count that is under
 * way has come (`+below:owner`, `-below:owner`), or that nobody's statistics hold it.
 */
export const countFields = (batch: number): [counted: string, part: string] => [
  `counted:${String(batch)}`,
  `counting:${String(batch)}`,
];

const NOBODY = 'nobody';

/** Writes a state into the two fields; an empty text stands for a missing field. */
export function writeState(state: CountState): [counted: string, part: string] {
  switch (state.kind) {
    case 'none':
      return ['', ''];
    case 'nobody':
      return ['', NOBODY];
    case 'counted':
      return [toMember(state.owner), ''];
    case 'counting':
    case 'forgetting':
      return ['', `${state.kind === 'counting' ? '+' : '-'}${String(state.below)}:${toMember(state.owner)}`];
  }
}

/** The field and its value that a generation has once a batch is settled for an owner, or for nobody. */
export function settledField(batch: number, owner: string | null): { field: string; value: string } {
  const [counted, part] = countFields(batch);
  return owner === null ? { field: part, value: NOBODY } : { field: counted, value: toMember(owner) };
}

export function readState([counted, part]: readonly (string | null | undefined)[]): CountState {
  if (counted != null) return { kind: 'counted', owner: fromMember(counted) };
  if (part == null) return { kind: 'none' };
  if (part === NOBODY) return { kind: 'nobody' };
  const colon = part.indexOf(':');
  const owner = fromMember(part.slice(colon + 1));
  const below = Number(part.slice(1, colon));
  return { kind: part.startsWith('+') ? 'counting' : 'forgetting', owner, below };
}

/** Returns the arguments of the function below: fields, state before and after, and the changes, with terms in groups. */
export function stepArguments(batch: number, step: CountStep): string[] {
  return [
    ...countFields(batch),
    ...writeState(step.from),
    ...writeState(step.to),
    String(step.sign),
    String(step.chunks),
    String(step.length),
    ...groupTerms(step.terms.map((term, i) => [term, at(step.frequencies, i)] as const)),
  ];
}

/** Groups terms by how many chunks hold them: for each group that number, the size of the group, and its terms. */
export function groupTerms(frequencies: Iterable<readonly [term: number, frequency: number]>): string[] {
  const groups = new Map<number, string[]>();
  for (const [term, frequency] of frequencies) {
    const group = groups.get(frequency);
    if (group) group.push(nameOf(term));
    else groups.set(frequency, [nameOf(term)]);
  }
  const grouped: string[] = [];
  for (const [frequency, members] of groups)
    for (let first = 0; first < members.length; first += MAX_GROUP_SIZE) {
      const end = Math.min(members.length, first + MAX_GROUP_SIZE);
      grouped.push(String(frequency), String(end - first));
      for (let place = first; place < end; place += 1) grouped.push(at(members, place));
    }
  return grouped;
}

/** The names of recent terms, by the last bits of the term: a number of ten digits takes long to write. */
const RECENT_NAMES = 2 ** 14;
const recentTerms = new Uint32Array(RECENT_NAMES);
const recentNames = new Array<string>(RECENT_NAMES).fill('');

/** The field that counts a term. */
function nameOf(term: number): string {
  const place = term & (RECENT_NAMES - 1);
  const known = recentTerms[place] === term ? at(recentNames, place) : '';
  if (known !== '') return known;
  const name = String(term);
  recentTerms[place] = term;
  recentNames[place] = name;
  return name;
}

/**
 * A Lua function that adds to the counts of terms, or takes from them. It reads and writes the terms of a group with one
 * command, since a command for each term costs more, here and in the append-only file.
 */
export const CHANGE_FUNCTION = `
-- Redis takes long to write a number of Lua, and most counts come again.
local written = setmetatable({}, { __index = function(known, count)
  local text = string.format('%d', count)
  known[count] = text
  return text
end })
local function change(statistics, sign, at, last)
  while at < last do
    local by, first, final = sign * ARGV[at], at + 2, at + 1 + ARGV[at + 1]
    local counts = redis.call('HMGET', statistics, unpack(ARGV, first, final))
    local fields, gone, size = {}, {}, 0
    for i = first, final do
      local count = (counts[i - first + 1] or 0) + by
      if count > 0 then
        fields[size + 1], fields[size + 2] = ARGV[i], written[count]
        size = size + 2
      else gone[#gone + 1] = ARGV[i] end
    end
    if #fields > 0 then redis.call('HSET', statistics, unpack(fields)) end
    if #gone > 0 then redis.call('HDEL', statistics, unpack(gone)) end
    at = final + 1
  end
end
`;

/**
 * A Lua function for the scripts that count or forget a part of a batch. It does nothing unless the generation is in
 * the state at which the part begins, so that no part is done twice, even when a process dies or another does the same.
 */
export const COUNT_FUNCTION = `${CHANGE_FUNCTION}
local function put(generation, field, value)
  if value == '' then redis.call('HDEL', generation, field) else redis.call('HSET', generation, field, value) end
end
local function step(generation, statistics, at, last)
  local held = redis.call('HMGET', generation, ARGV[at], ARGV[at + 1])
  if (held[1] or '') ~= ARGV[at + 2] or (held[2] or '') ~= ARGV[at + 3] then return 0 end
  put(generation, ARGV[at], ARGV[at + 4])
  put(generation, ARGV[at + 1], ARGV[at + 5])
  local sign = ARGV[at + 6]
  if ARGV[at + 7] ~= '0' then
    redis.call('HINCRBY', statistics, 'chunks', sign * ARGV[at + 7])
    redis.call('HINCRBY', statistics, 'length', sign * ARGV[at + 8])
  end
  change(statistics, sign, at + 9, last)
  return 1
end
`;

/**
 * Takes a step of a count. The first part may be refused: with -1 when the generation was discarded or never opened, or
 * chunks have no terms yet; with -2 when the record has changed since it was read, because the process that changed its
 * access lists will look here once more, and no process that knows less may come after it; or because a chunk was renamed, so
 * that its terms are to be read again. A count that has begun always continues.
 */
export const settleStepScript = defineScript<number>(`${COUNT_FUNCTION}
if ARGV[3] == 'begin' then
  if redis.call('HEXISTS', KEYS[1], 'document') == 0 or redis.call('HEXISTS', KEYS[1], 'discarded') == 1 then return -1 end
  for i = 4, #KEYS do
    if redis.call('HEXISTS', KEYS[i], 'terms') == 0 then return -1 end
    if ARGV[i] ~= '*' and (redis.call('HGET', KEYS[i], 'named') or '') ~= ARGV[i] then return -2 end
  end
  if ARGV[2] ~= '' and redis.call('HGET', KEYS[3], 'revision') ~= ARGV[2] then return -2 end
end
return step(KEYS[1], KEYS[2], #KEYS + 1, #ARGV)`);

/** Takes a step for a generation that is to be cleaned away; -1 when it is not any more. */
export const forgetStepScript = defineScript<number>(
  `${COUNT_FUNCTION}
if redis.call('SISMEMBER', KEYS[3], ARGV[1]) == 0 then return -1 end
return step(KEYS[1], KEYS[2], 2, #ARGV)`,
  { evenWhenFull: true },
);
