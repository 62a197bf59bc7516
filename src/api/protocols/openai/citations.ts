import { viewUrlOf, type QuotedSource } from '../../services/retrieval/sources.js';

/** A place in an answer that cites a source. Places are in UTF-16 units, as those of quotes. */
export interface Citation {
  readonly source: QuotedSource;
  readonly start: number;
  readonly end: number;
}

/** `[1]`, or several numbers as in `[1, 3]`. */
const MARKS = /\[(\d{1,4}(?:[,;] ?\d{1,4}){0,31})\]/g;
/** Of one answer; a model may write nothing else. */
const MAX_CITATIONS = 1_000;

/** Finds the marks of an answer that cite its sources, in their order. Numbers of no source are no citations. */
export function findCitations(answer: string, sources: readonly QuotedSource[]): Citation[] {
  const citations: Citation[] = [];
  for (const { 0: mark, 1: numbers = '', index: start } of answer.matchAll(MARKS)) {
    for (const number of new Set(numbers.split(/[,;] ?/))) {
      const source = sources[Number(number) - 1];
      if (source) citations.push({ source, start, end: start + mark.length });
    }
    if (citations.length >= MAX_CITATIONS) return citations.slice(0, MAX_CITATIONS);
  }
  return citations;
}

/** The name of a source for people. A text without a name is known by its id. */
export const nameOfSource = ({
  filename,
  title,
  documentId,
}: Pick<QuotedSource, 'filename' | 'title' | 'documentId'>): string => title ?? filename ?? documentId;

/** The address of a source, with its first quote marked. */
export const urlOfSource = (
  source: Pick<QuotedSource, 'documentId' | 'chunkNumber' | 'quotes'>,
  baseUrl: string,
): string => viewUrlOf(source, { baseUrl, quote: source.quotes[0] });
