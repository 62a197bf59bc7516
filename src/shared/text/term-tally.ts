import { randomInt } from 'node:crypto';
import type { TermList } from '../../index/index.js';
import { addTo } from '../at.js';

/** Counts of terms that are added one by one, without an object for each text or term. */
export interface TermTally {
  /** The terms in the order in which they first came, and how often each came. The lists have room for more. */
  terms: Uint32Array;
  counts: Uint32Array;
  /** A hash table with linear probing: the place of each term, from 1 on. Half of the slots or more are empty. */
  slots: Int32Array;
  size: number;
  length: number;
}

const FIRST_ROOM = 1_024;
/** Chooses the slots, so that nobody can write words that all belong into the same. */
const SECRET_FACTOR = 2 * randomInt(2 ** 31) + 1;

export const createTermTally = (): TermTally => ({
  terms: new Uint32Array(FIRST_ROOM),
  counts: new Uint32Array(FIRST_ROOM),
  slots: new Int32Array(2 * FIRST_ROOM),
  size: 0,
  length: 0,
});

/** Forgets all terms, and the room that a long text has taken. */
export function clearTally(tally: TermTally): void {
  if (tally.terms.length > FIRST_ROOM) Object.assign(tally, createTermTally());
  tally.slots.fill(0);
  tally.size = 0;
  tally.length = 0;
}

export function addTerm(tally: TermTally, term: number): void {
  tally.length += 1;
  addSilently(tally, term);
}

/** Adds a term that does not count in the length. */
export function addSilently(tally: TermTally, term: number): void {
  const { terms, counts, slots } = tally;
  const slot = slotOf(tally, term);
  const place = slots[slot];
  if (place !== 0) {
    counts[place - 1] += 1;
    return;
  }
  terms[tally.size] = term;
  counts[tally.size] = 1;
  tally.size += 1;
  slots[slot] = tally.size;
  if (tally.size === terms.length) grow(tally);
}

/** Returns the added terms, as lists of their own. */
export const listTally = ({ terms, counts, size, length }: TermTally): TermList => ({
  length,
  terms: terms.slice(0, size),
  counts: counts.slice(0, size),
});

/** Returns the terms of two lists. The terms of the second count `times` as often. */
export function addList(list: TermList, added: TermList, times: number): TermList {
  const counts = new Map(Array.from(list.terms, (term, i) => [term, list.counts[i]]));
  added.terms.forEach((term, i) => {
    addTo(counts, term, times * added.counts[i]);
  });
  return {
    length: list.length + times * added.length,
    terms: Uint32Array.from(counts.keys()),
    counts: Uint32Array.from(counts.values()),
  };
}

/** The slot of a term, or the empty one that is to be its own. */
function slotOf({ slots, terms }: TermTally, term: number): number {
  const mask = slots.length - 1;
  // The upper bits of the product depend on all bits of the term.
  let slot = Math.imul(term, SECRET_FACTOR) >>> Math.clz32(mask);
  for (let place = slots[slot]; place !== 0; place = slots[slot]) {
    if (terms[place - 1] === term) return slot;
    slot = (slot + 1) & mask;
  }
  return slot;
}

function grow(tally: TermTally): void {
  const { terms, counts, slots, size } = tally;
  tally.terms = lengthened(terms);
  tally.counts = lengthened(counts);
  tally.slots = new Int32Array(2 * slots.length);
  for (let place = 0; place < size; place += 1) tally.slots[slotOf(tally, terms[place])] = place + 1;
}

function lengthened(list: Uint32Array): Uint32Array {
  const longer = new Uint32Array(2 * list.length);
  longer.set(list);
  return longer;
}
