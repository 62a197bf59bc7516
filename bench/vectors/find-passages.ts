import type { Collection } from '../support/collections.js';
import { createRandom } from '../support/random.js';

/** A heading is shorter and a table longer than a passage that a model has learned to read. */
const WORDS = { min: 6, max: 80 };
const MAX_CHARACTERS = 600;

export interface Passages {
  /** In random order, so that any first part of them is a sample of all. */
  readonly passages: readonly string[];
  /** Documents of the same collections that are not among the passages. */
  readonly heldOut: readonly string[];
  readonly questions: readonly string[];
  /** Distinct sentences that the collections have. */
  readonly found: number;
}

/**
 * Sentences of the collections, each once, as equally of all collections as their sizes let. Two that differ in nothing but
 * numbers, marks and case count as one.
 */
export function findPassages(
  collections: readonly Collection[],
  wanted: { readonly passages: number; readonly heldOut: number; readonly questions: number },
): Passages {
  const seen = new Set<string>();
  const sentences = collections.map((each) => shuffle(distinctSentences(each, seen)));
  const taken = takeInTurns(sentences, wanted.passages + wanted.heldOut);
  const questions = collections.map(({ queries }) => shuffle(queries.map(({ text }) => text)));
  return {
    heldOut: taken.slice(0, wanted.heldOut),
    passages: taken.slice(wanted.heldOut),
    questions: takeInTurns(questions, wanted.questions),
    found: sentences.reduce((sum, { length }) => sum + length, 0),
  };
}

function distinctSentences({ documents }: Collection, seen: Set<string>): string[] {
  const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
  return documents.flatMap(({ text }) =>
    Array.from(segmenter.segment(text), ({ segment }) => segment.replaceAll(/\s+/gu, ' ').trim()).filter(
      (sentence) => {
        const words = sentence.split(' ').length;
        if (words < WORDS.min || words > WORDS.max || sentence.length > MAX_CHARACTERS) return false;
        const letters = sentence.toLowerCase().replaceAll(/[^\p{L}]/gu, '');
        if (letters === '' || seen.has(letters)) return false;
        seen.add(letters);
        return true;
      },
    ),
  );
}

/** One of each list after the other, until there are `count`; in random order. */
function takeInTurns(lists: readonly (readonly string[])[], count: number): string[] {
  const taken: string[] = [];
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  for (let at = 0; at < longest && taken.length < count; at += 1)
    taken.push(...lists.flatMap((list) => list[at] ?? []).slice(0, count - taken.length));
  return shuffle(taken);
}

/** By Fisher and Yates; the same order in every run. */
function shuffle(texts: readonly string[]): string[] {
  const below = createRandom();
  const shuffled = [...texts];
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = below(last + 1);
    [shuffled[last], shuffled[other]] = [shuffled[other] ?? '', shuffled[last] ?? ''];
  }
  return shuffled;
}
