import { packList, type TermList } from '../../index/index.js';
import { listTerms } from '../text/list-terms.js';
import { addList } from '../text/term-tally.js';
import { countTokens } from '../text/token-count.js';
import type { ChunkText } from './fields.js';

/*
 * A chunk is found by fields with weights, as in BM25F (Robertson, Zaragoza and Taylor, "Simple BM25 Extension to Multiple
 * Weighted Fields", 2004): the terms of a field count as often as its weight says, in one count of each term and in one
 * length, before repetition saturates. So the code that ranks by term counts knows nothing of fields.
 */

/** A longer chunk says enough by itself, and may fill the window of a model. */
const MAX_TOKENS = 4_096;
/** Most UTF-16 units of headings. */
const MAX_HEADINGS = 256;

/**
 * The title of the file and the headings over a chunk count once where the chunk does not show them, which was measured: with
 * chunks of 64 and 128 tokens of SciFact, whose titles stand in the first chunk only, nDCG@10 rises from .666 to .675 and
 * from .679 to .684; twice as much is no better.
 */
const HEADINGS_WEIGHT = 1;
/** The weight of the file's name; see bench/results/quality.md for the results of other weights. */
const NAME_WEIGHT = 2;

type SearchedChunk = Pick<ChunkText, 'text' | 'tokenCount' | 'section'>;

/** The names that a document gives all its chunks. */
export interface Naming {
  /** The title that its file gives itself. */
  readonly title: string | null;
  readonly filename: string | null;
}

/**
 * Returns the text from which the vector of a chunk is made: the title of its document and the headings over it that it
 * does not show itself, then its own text. The name of the file is not in it, so that a file can be renamed without another
 * vector.
 */
export function searchedText(
  chunk: SearchedChunk,
  title: string | null,
): { readonly text: string; readonly tokens: number } {
  const { text, tokenCount } = chunk;
  const headings = headingsOver(chunk, title);
  if (headings === '') return { text, tokens: tokenCount };
  const context = `${headings}\n\n`;
  return { text: context + text, tokens: tokenCount + countTokens(context) };
}

/**
 * Returns the packed terms by which searches by words find a chunk: the terms of its text, of its headings and of the
 * file's name.
 */
export function searchedTerms(chunk: SearchedChunk, { title, filename }: Naming): Uint8Array {
  let terms = listTerms(chunk.text);
  const add = (field: TermList, weight: number) => (terms = addList(terms, field, weight));
  const headings = headingsOver(chunk, title);
  if (headings !== '') add(listTerms(headings), HEADINGS_WEIGHT);
  if (filename !== null) add(listTerms(nameWords(filename)), NAME_WEIGHT);
  return packList(terms);
}

function headingsOver({ text, tokenCount, section = [] }: SearchedChunk, title: string | null): string {
  if (tokenCount > MAX_TOKENS || (title === null && section.length === 0)) return '';
  const missing = [...new Set([...(title === null ? [] : [title]), ...section])].filter(
    (heading) => !text.includes(heading),
  );
  return missing.join(' > ').slice(0, MAX_HEADINGS).toWellFormed();
}

type NamedContent = {
  readonly filename: string | null;
  readonly extraction?: { readonly title: string | null } | undefined;
} | null;

/** The title that the file of a document gives itself. */
export const titleOf = (content: Pick<NonNullable<NamedContent>, 'extraction'> | null): string | null =>
  content?.extraction?.title ?? null;

export const namingOf = (content: NamedContent): Naming => ({
  title: titleOf(content),
  filename: content?.filename ?? null,
});

/** The length of names that are read; a longer rest says nothing new. */
const MAX_UNITS = 256;
/** The borders of digits and letters, which people write apart when they ask: `report2024` is found by `report 2024`. */
const DIGIT_BORDER = /(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/gu;

/**
 * Returns the words of a file's name, as a text whose terms are looked for: the name as it is, which the analysis takes
 * apart at `_`, `-`, `.` and capitals, and the pieces of its parts in which letters and digits stand together.
 */
function nameWords(filename: string): string {
  const name = filename.slice(0, MAX_UNITS).toWellFormed().normalize('NFC');
  const pieces = name.split(/[^\p{L}\p{N}\p{M}]+/u).flatMap((part) => {
    const apart = part.split(DIGIT_BORDER);
    return apart.length > 1 ? apart.filter((piece) => piece.length > 1) : [];
  });
  return [name, ...pieces].join(' ');
}
