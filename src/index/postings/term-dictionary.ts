import { randomInt } from 'node:crypto';

/** Term numbers in the order in which terms are first seen, with how many chunks hold each. */
export interface Dictionary {
  /** An open-addressing table of term numbers, counting from 1. */
  table: Int32Array;
  terms: Uint32Array;
  frequencies: Uint32Array;
  size: number;
}

// In this file `?? 0` reads numbers that are known to be there, or an empty place of the table.
/** @param expected the number of terms that there may be; it grows beyond that */
export function createDictionary(expected: number): Dictionary {
  const terms = Math.max(256, expected);
  return {
    table: new Int32Array(tableSize(terms)),
    terms: new Uint32Array(terms),
    frequencies: new Uint32Array(terms),
    size: 0,
  };
}

/** Returns a power of two of which terms take at most half. */
function tableSize(terms: number): number {
  return 2 ** Math.ceil(Math.log2(2 * terms));
}

/** A number that nobody outside can know: who chose words whose terms end alike would make the search in the table long. */
const SECRET = randomInt(2 ** 31) * 2 + 1;

/** Returns the place in the table that holds the number of a term, or the empty place where it would be. */
function tablePlace({ table, terms }: Dictionary, term: number): number {
  const mask = table.length - 1;
  // The upper bits of a product depend on all bits of the term (multiplicative hashing, Knuth).
  let place = Math.imul(term, SECRET) >>> Math.clz32(mask);
  for (let number = table[place] ?? 0; number !== 0; number = table[place] ?? 0) {
    if (terms[number - 1] === term) return place;
    place = (place + 1) & mask;
  }
  return place;
}

/** Counts a chunk that holds the term. @returns the number of the term */
export function countTerm(dictionary: Dictionary, term: number): number {
  const place = tablePlace(dictionary, term);
  const number = (dictionary.table[place] ?? 0) - 1;
  if (number >= 0) {
    dictionary.frequencies[number] = (dictionary.frequencies[number] ?? 0) + 1;
    return number;
  }
  if (dictionary.size === dictionary.terms.length) {
    grow(dictionary);
    return countTerm(dictionary, term);
  }
  dictionary.terms[dictionary.size] = term;
  dictionary.frequencies[dictionary.size] = 1;
  dictionary.size += 1;
  dictionary.table[place] = dictionary.size;
  return dictionary.size - 1;
}

/** Returns the number of a term that was counted. */
export function numberOf(dictionary: Dictionary, term: number): number {
  return (dictionary.table[tablePlace(dictionary, term)] ?? 0) - 1;
}

function grow(dictionary: Dictionary): void {
  const { terms, frequencies, size } = dictionary;
  dictionary.terms = new Uint32Array(2 * size);
  dictionary.terms.set(terms);
  dictionary.frequencies = new Uint32Array(2 * size);
  dictionary.frequencies.set(frequencies);
  dictionary.table = new Int32Array(tableSize(2 * size));
  for (let number = 0; number < size; number += 1)
    dictionary.table[tablePlace(dictionary, terms[number] ?? 0)] = number + 1;
}
