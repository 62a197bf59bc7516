import { packedLength, packedTerms } from '../../index/index.js';
import { addTo, at, valueOf } from '../at.js';
import { fromMember, toMember } from '../redis/keys.js';
import { declareScript, evenWhenFull } from '../redis/script.js';

/** The terms of a batch of chunks. They are counted and forgotten in parts. */
export interface BatchTerms {
  readonly chunks: number;
  /** The occurrences of all terms in all chunks. */
  readonly length: number;
  /** Every term once, ascending, and in the second list how many of the chunks hold it. */
  readonly terms: readonly number[];
  readonly frequencies: readonly number[];
}

/** The owner whose term statistics hold a batch. A count that is under way holds the terms less than `below`. */
export type CountState =
  | { readonly kind: 'none' }
  /** It is decided that nobody's statistics hold it, since the owner may not read the document. */
  | { readonly kind: 'nobody' }
  | { readonly kind: 'counted'; readonly owner: string }
  | { readonly kind: 'counting' | 'forgetting'; readonly owner: string; readonly below: number };

/** Tells whether somebody's statistics hold the batch or a part of it. */
export const isHeld = (state: CountState): state is Extract<CountState, { readonly owner: string }> =>
  state.kind !== 'none' && state.kind !== 'nobody';

/** Tells whether nothing is left to do for a batch that is to be counted for `owner`, or for nobody when null. */
export function isSettled(state: CountState, owner: string | null): boolean {
  return owner === null ? state.kind === 'nobody' : state.kind === 'counted' && state.owner === owner;
}

/** One step of a count: the state before and after, and the change of the owner's statistics. */
export interface CountStep {
  readonly from: CountState;
  readonly to: CountState;
  /** Null when nobody's statistics change. */
  readonly owner: string | null;
  readonly sign: 1 | -1;
  /**
   * The chunks and their length are added with the first part and removed with the last, so
   * that a term is never in more chunks than there are.
   */
  readonly chunks: number;
  readonly length: number;
  readonly terms: readonly number[];
  readonly frequencies: readonly number[];
}

/** The most terms of a step; each takes Redis two to five microseconds. */
export const TERMS_AT_ONCE = 2_000;

export function sumTerms(packed: readonly Uint8Array[]): BatchTerms {
  const length = packed.reduce((sum, each) => sum + packedLength(each), 0);
  const [only, ...others] = packed;
  if (only && others.length === 0) {
    // Most documents have one chunk.
    const terms = packedTerms(only);
    return { chunks: 1, length, terms, frequencies: terms.map(() => 1) };
  }
  const counts = new Map<number, number>();
  for (const each of packed) {
    for (const term of packedTerms(each)) addTo(counts, term);
  }
  const terms = [...Uint32Array.from(counts.keys()).sort()];
  return { chunks: packed.length, length, terms, frequencies: terms.map((term) => valueOf(counts, term)) };
}

/**
 * Returns the next step on the way to a batch that is counted for `owner`, or for nobody; null when it is. A batch that is
 * being forgotten, or is counted for another owner, is forgotten first.
 */
export function settleStep(batch: BatchTerms, state: CountState, owner: string | null): CountStep | null {
  if (isSettled(state, owner)) return null;
  if (isHeld(state) && (state.owner !== owner || state.kind === 'forgetting'))
    return forgetStep(batch, state);
  if (owner === null) return settleForNobody(state);
  const isFirst = state.kind !== 'counting';
  const start = isFirst ? 0 : firstAtLeast(batch.terms, state.below);
  const below = batch.terms[start + TERMS_AT_ONCE];
  return {
    from: state,
    owner,
    sign: 1,
    chunks: isFirst ? batch.chunks : 0,
    length: isFirst ? batch.length : 0,
    to: below === undefined ? { kind: 'counted', owner } : { kind: 'counting', owner, below },
    ...cut(batch, start, start + TERMS_AT_ONCE),
  };
}

/** The next step on the way to a batch that nobody's statistics hold; null when nobody's do. */
export function forgetStep(batch: BatchTerms, state: CountState): CountStep | null {
  if (!isHeld(state)) return null;
  const end = state.kind === 'counted' ? batch.terms.length : firstAtLeast(batch.terms, state.below);
  const start = Math.max(0, end - TERMS_AT_ONCE);
  const isLast = start === 0;
  return {
    from: state,
    owner: state.owner,
    sign: -1,
    chunks: isLast ? batch.chunks : 0,
    length: isLast ? batch.length : 0,
    to: isLast
      ? { kind: 'nobody' }
      : { kind: 'forgetting', owner: state.owner, below: at(batch.terms, start) },
    ...cut(batch, start, end),
  };
}

const settleForNobody = (from: CountState): CountStep => ({
  from,
  to: { kind: 'nobody' },
  owner: null,
  sign: 1,
  chunks: 0,
  length: 0,
  terms: [],
  frequencies: [],
});

const cut = ({ terms, frequencies }: BatchTerms, start: number, end: number) => ({
  terms: terms.slice(start, end),
  frequencies: frequencies.slice(start, end),
});

/** The index of the first of ascending `terms` that is at least `least`; their number when there is none. */
function firstAtLeast(terms: readonly number[], least: number): number {
  let low = 0;
  let high = terms.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at(terms, middle) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

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

/** The same fields as arguments of scripts. */
export function countFieldsOf(batch: number) {
  const [countedField, partField] = countFields(batch);
  return { countedField, partField };
}

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

/** A step of a count as the function below takes it: fields, state before and after, and amounts; and groups of terms. */
export interface StepArguments {
  readonly step: readonly string[];
  readonly terms: readonly (readonly string[])[];
}

export function stepArguments(batch: number, step: CountStep): StepArguments {
  return {
    step: [
      ...countFields(batch),
      ...writeState(step.from),
      ...writeState(step.to),
      String(step.sign),
      String(step.chunks),
      String(step.length),
    ],
    terms: groupTerms(step.terms.map((term, i) => [term, at(step.frequencies, i)] as const)),
  };
}

/** Groups terms by how many chunks hold them: each group is that number, and its terms. */
export function groupTerms(frequencies: Iterable<readonly [term: number, frequency: number]>): string[][] {
  const groups = new Map<number, string[]>();
  const grouped: string[][] = [];
  for (const [term, frequency] of frequencies) {
    let group = groups.get(frequency);
    if (!group || group.length > MAX_GROUP_SIZE) {
      group = [String(frequency)];
      groups.set(frequency, group);
      grouped.push(group);
    }
    group.push(nameOf(term));
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
local function change(statistics, sign, terms)
  local group = {terms()}
  while group[1] do
    local by = sign * group[1]
    local counts = redis.call('HMGET', statistics, unpack(group, 2))
    local fields, gone, size = {}, {}, 0
    for i = 2, #group do
      local count = (counts[i - 1] or 0) + by
      if count > 0 then
        fields[size + 1], fields[size + 2] = group[i], written[count]
        size = size + 2
      else gone[#gone + 1] = group[i] end
    end
    if #fields > 0 then redis.call('HSET', statistics, unpack(fields)) end
    if #gone > 0 then redis.call('HDEL', statistics, unpack(gone)) end
    group = {terms()}
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
local function takeStep(generation, statistics, step, terms)
  local counted, part, isCounted, isPart, willBeCounted, willBePart, sign, chunks, length = unpack(step)
  local held = redis.call('HMGET', generation, counted, part)
  if (held[1] or '') ~= isCounted or (held[2] or '') ~= isPart then return 0 end
  put(generation, counted, willBeCounted)
  put(generation, part, willBePart)
  if chunks ~= '0' then
    redis.call('HINCRBY', statistics, 'chunks', sign * chunks)
    redis.call('HINCRBY', statistics, 'length', sign * length)
  end
  change(statistics, sign, terms)
  return 1
end
`;

/**
 * Takes a step of a count. The first part may be refused: with -1 when the generation was discarded or never opened, or
 * chunks have no terms yet; with -2 when the record has changed since it was read, because the process that changed its
 * access lists will look here once more, and no process that knows less may come after it; or because a chunk was renamed, so
 * that its terms are to be read again. A count that has begun always continues.
 */
export const settleStepScript = declareScript({
  keys: { generation: 'key', statistics: 'key', record: 'key', chunks: 'keys' },
  args: { revision: 'text', begins: 'text', names: 'list', step: 'list', terms: 'rows' },
}).lua<number>(`${COUNT_FUNCTION}
if begins == '1' then
  if redis.call('HEXISTS', generation, 'document') == 0 or redis.call('HEXISTS', generation, 'discarded') == 1 then return -1 end
  for i, chunk in ipairs(chunks) do
    if redis.call('HEXISTS', chunk, 'terms') == 0 then return -1 end
    if names[i] ~= '*' and (redis.call('HGET', chunk, 'named') or '') ~= names[i] then return -2 end
  end
  if revision ~= '' and redis.call('HGET', record, 'revision') ~= revision then return -2 end
end
return takeStep(generation, statistics, step, terms)`);

/** Takes a step for a generation that is to be cleaned away; -1 when it is not any more. */
export const forgetStepScript = declareScript({
  keys: { generation: 'key', statistics: 'key', garbage: 'key' },
  args: { id: 'text', step: 'list', terms: 'rows' },
}).lua<number>(`${COUNT_FUNCTION}
${evenWhenFull('hash', 'generation')}
if redis.call('SISMEMBER', garbage, id) == 0 then return -1 end
return takeStep(generation, statistics, step, terms)`);
