import { addTo, sumOf } from '../../../../shared/at.js';

/** More words are not counted: a document that has as many has most of them in each of its parts. */
const MAX_WORDS = 50_000;
const MAX_WORD_LENGTH = 60;

const PART = String.raw`[\p{L}\p{M}\p{N}'’]`;
const COMPOUND = `${PART}{1,${String(MAX_WORD_LENGTH)}}(?:-${PART}{1,${String(MAX_WORD_LENGTH)}}){0,5}`;
const LAST_WORD = new RegExp(`(?<!${PART})${COMPOUND}$`, 'u');
const FIRST_WORD = new RegExp(`^${COMPOUND}`, 'u');
/** The longest compound in UTF-16 units, and some. */
const AROUND = 200;

/** Signs that may part a word at the end of a line: hyphens, a soft one, and PDFium's sign for either. */
const BREAK = /[-\u2010\u00ad\u0002]\n/g;
const BETWEEN_WORDS = /[\s\0-&(-,./:-@[-`{-~\u00a0-\u00bf\u2010-\u2018\u201a-\u206f]+/;

/** A word, or compound, that is cut at the end of a line. */
export interface CutWord {
  readonly before: string;
  readonly hyphen: string;
  readonly after: string;
  /** The place of the hyphen in the text. */
  readonly at: number;
}

export function* cutWords(text: string): Iterable<CutWord> {
  for (const { index: at, 0: parted } of text.matchAll(BREAK)) {
    const before = LAST_WORD.exec(text.slice(Math.max(0, at - AROUND), at))?.[0];
    const after = FIRST_WORD.exec(text.slice(at + 2, at + 2 + AROUND))?.[0];
    if (before !== undefined && after !== undefined) yield { before, hyphen: parted.slice(0, 1), after, at };
  }
}

/** Counts how often words occur in a document so far, compounds and their parts, in whatever case. */
export interface Vocabulary {
  /** Counts the words of a text. Those that line ends cut are left out. */
  readonly add: (text: string) => void;
  readonly count: (word: string) => number;
}

export function createVocabulary(): Vocabulary {
  const counts = new Map<string, number>();
  const add = (word: string): void => {
    if (counts.has(word) || counts.size < MAX_WORDS) addTo(counts, word);
  };
  return {
    add: (text) => {
      for (const word of withoutCutWords(text).toLowerCase().split(BETWEEN_WORDS)) {
        if (word.length > AROUND) continue;
        add(word);
        if (word.includes('-')) for (const part of word.split('-')) add(part);
      }
    },
    count: (word) => sumOf(counts, word.toLowerCase()),
  };
}

function withoutCutWords(text: string): string {
  let kept = '';
  let from = 0;
  for (const { before, after, at } of cutWords(text)) {
    kept += `${text.slice(from, Math.max(from, at - before.length))} `;
    from = at + 2 + after.length;
  }
  return from === 0 ? text : kept + text.slice(from);
}
