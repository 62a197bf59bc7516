import { stemmer } from 'stemmer';
import { stopWords } from '../../src/shared/text/words.js';

/*
 * The reference that rankings are held against: BM25 over whole documents with the constants and the inverse document
 * frequency of Lucene, Porter's stems, English stop words, and pairs of characters in scripts without spaces. It shares
 * nothing with the ranker but the list of stop words.
 */

const K1 = 1.2;
const B = 0.75;
const WORDS = /[\p{L}\p{N}\p{M}_]+(?:'\p{L}+)?/gu;
const UNSPACED =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}ー\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}';
const RUNS = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, 'gu');
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');

function termsOf(text: string): string[] {
  const words = text.normalize('NFKC').toLowerCase().match(WORDS) ?? [];
  return words
    .flatMap((word) => word.match(RUNS) ?? [])
    .flatMap((run) => (IS_UNSPACED.test(run) ? pairs(run) : stemsOf(run)));
}

function pairs(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, i) => (characters[i] ?? '') + character);
}

function stemsOf(word: string): string[] {
  const [start = ''] = word.split("'");
  const isContraction = start !== word && (stopWords.has(start) || word.endsWith("n't"));
  if (isContraction || stopWords.has(word)) return [];
  return [stemmer(word.replace(/'s$/u, ''))];
}

function countsOf(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

/** Returns a function that scores all documents for a query. Scores are in the order of the documents. */
export function createDocumentBm25(texts: readonly string[]): (query: string) => Float64Array {
  const lengths: number[] = [];
  const postings = new Map<string, { readonly document: number; readonly count: number }[]>();
  texts.forEach((text, document) => {
    const terms = termsOf(text);
    lengths.push(terms.length);
    for (const [term, count] of countsOf(terms)) {
      const list = postings.get(term);
      if (list) list.push({ document, count });
      else postings.set(term, [{ document, count }]);
    }
  });
  const average = lengths.reduce((sum, length) => sum + length, 0) / texts.length;
  return (query) => {
    const scores = new Float64Array(texts.length);
    for (const [term, repeats] of countsOf(termsOf(query))) {
      const holding = postings.get(term) ?? [];
      const weight = repeats * Math.log1p((texts.length - holding.length + 0.5) / (holding.length + 0.5));
      for (const { document, count } of holding) {
        const damping = K1 * (1 - B + (B * (lengths[document] ?? 0)) / average);
        scores[document] = (scores[document] ?? 0) + (weight * count) / (count + damping);
      }
    }
    return scores;
  };
}
