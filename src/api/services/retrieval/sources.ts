import { placeOfPart, type PartPlace } from '../../../shared/chunks/spots.js';
import type { Whereabouts } from '../../../shared/chunks/fields.js';
import { shownContent } from '../../../shared/document.js';
import { writeHighlight } from '../../../shared/page-pictures/highlight.js';
import { findSupport, type Support } from '../../../shared/models/support.js';
import type { Passage, Quote } from '../../../shared/ports.js';
import type { ChunkPart, Hit, WidenedText } from '../../../shared/search/request.js';
import type { TextSpan } from '../../../shared/text/sentences.js';

/** A chunk that was in the prompt. */
export interface Source extends Whereabouts {
  readonly documentId: string;
  readonly owner: string;
  readonly chunkNumber: number;
  readonly score: number;
  /** Null for a text. */
  readonly filename: string | null;
  /** The title that the file gives itself; null where it gives none. */
  readonly title: string | null;
  readonly text: string;
  /** The chunks and hits that `text` was joined of; absent where it is the chunk. */
  readonly widened?: WidenedText | undefined;
}

/** A sentence of a source that the answer was made from, by its bounds in the text of the source. */
export interface SourceQuote extends PartPlace {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** The chunk in which it stands; absent where the source is one chunk. */
  readonly chunkNumber?: number | undefined;
}

export interface QuotedSource extends Source {
  readonly quotes: readonly SourceQuote[];
  /** The address of the page for people that shows the passage, with its first quote marked. */
  readonly url: string;
  /** The address of the page with the first quote marked, or with the passage where nothing is quoted; null without pages. */
  readonly pageUrl: string | null;
}

/** The sources of an answer, with what the answer took from each, and the sentences of the answer that none supports. */
export interface Sources {
  readonly sources: readonly QuotedSource[];
  readonly unsupported: readonly string[];
}

export function toSource({ record, number, content, ...hit }: Hit): Source {
  const { kind, filename, extraction } = shownContent(record);
  return {
    documentId: record.id,
    owner: record.ownerId,
    chunkNumber: number,
    score: hit.score,
    location: hit.location,
    section: hit.section,
    filename: kind === 'file' ? filename : null,
    title: extraction?.title ?? null,
    text: content,
    spots: hit.spots,
    widened: hit.widened,
  };
}

export function toPassage(source: Source): Passage {
  const { documentId, chunkNumber, text, filename } = source;
  const passage = { documentId, chunkNumber, text };
  if (filename === null) return passage;
  return { ...passage, filename, nameOfPlace: (part) => nameOf(placeIn(source, part).place) };
}

interface PlacedPart {
  /** The chunk in which the part stands, or begins, and its bounds in the text of that. */
  readonly chunk: Pick<ChunkPart, 'number' | 'location'> & TextSpan;
  readonly place: PartPlace;
}

/** Finds a part of a source in the chunk that holds all of it, or else in the chunk in which it begins. */
function placeIn(source: Source, part: TextSpan): PlacedPart {
  const { widened, chunkNumber, location } = source;
  if (!widened)
    return { chunk: { number: chunkNumber, location, ...part }, place: placeOfPart(source, part) };
  const { parts } = widened;
  const whole = parts.find(({ from, end }) => from <= part.start && part.end <= end);
  const begins = whole ?? parts.find(({ start, end }) => start <= part.start && part.start < end) ?? parts[0];
  if (!begins) throw new Error('a widened source without chunks');
  const chunk = { number: begins.number, location: begins.location, ...within(begins, part) };
  const place = placeOfPart(begins, chunk);
  if (whole) return { chunk, place };
  const rest = parts.filter(({ number, start }) => number > begins.number && start < part.end);
  const further = rest.flatMap((each) => {
    const added = { start: Math.max(part.start, each.start), end: part.end };
    return placeOfPart(each, within(each, added)).boxes ?? [];
  });
  return { chunk, place: place.boxes ? { ...place, boxes: [...place.boxes, ...further] } : place };
}

/** The bounds of a part of a widened text in the text of one of its chunks, which ends where the chunk does. */
function within({ text, end }: ChunkPart, part: TextSpan): TextSpan {
  const shift = text.length - end;
  return { start: Math.max(0, part.start + shift), end: Math.min(text.length, part.end + shift) };
}

/** Names a place for people; undefined where the format tells none. */
function nameOf({ page, slide, sheet, rows, line, chapter, message }: PartPlace): string | undefined {
  if (page !== undefined) return `page ${String(page)}`;
  if (slide !== undefined) return `slide ${String(slide)}`;
  if (rows !== undefined) return `${sheet === undefined ? '' : `${sheet}, `}row ${String(rows.first)}`;
  if (chapter !== undefined) return chapter;
  if (message !== undefined) return `message ${String(message)}`;
  return line === undefined ? sheet : `line ${String(line)}`;
}

interface Answer {
  readonly text: string;
  /** The sentences that it was made from, where the completer knows them. */
  readonly quotes: readonly Quote[] | undefined;
  /** The address of the service, without a slash at its end. */
  readonly baseUrl: string;
}

/** Says what an answer took from its sources. */
export async function quoteSources(sources: readonly Source[], answer: Answer): Promise<Sources> {
  const { text, quotes: known, baseUrl } = answer;
  const { quotes, unsupported } = known ? { quotes: known, unsupported: [] } : await support(text, sources);
  const quoted = sources.map((source, passage) => {
    const own = quotes.filter((quote) => quote.passage === passage);
    const placed = own.map(({ start, end }) => ({ start, end, ...placeIn(source, { start, end }) }));
    const quoteOf = ({ start, end, chunk, place }: (typeof placed)[number]): SourceQuote => ({
      text: source.text.slice(start, end),
      start,
      end,
      ...(source.widened && { chunkNumber: chunk.number }),
      ...place,
    });
    const [first] = placed;
    const { documentId, chunkNumber, location } = source;
    const shown = {
      documentId,
      chunkNumber: first?.chunk.number ?? chunkNumber,
      location: first ? first.chunk.location : location,
    };
    const link = { baseUrl, quote: first && { ...first.chunk, page: first.place.page } };
    return {
      ...source,
      quotes: placed.map(quoteOf),
      url: viewUrlOf(shown, link),
      pageUrl: pageUrlOf(shown, link),
    };
  });
  return { sources: quoted, unsupported };
}

interface PageLink {
  readonly baseUrl: string;
  /** The part that is marked; the whole passage without it. */
  readonly quote?: (TextSpan & Pick<PartPlace, 'page'>) | undefined;
}

/** Returns the address of the picture of a page with a passage of a chunk marked; null where its file has no pages. */
export function pageUrlOf(
  { documentId, chunkNumber, location }: Pick<Source, 'documentId' | 'chunkNumber' | 'location'>,
  { baseUrl, quote }: PageLink,
): string | null {
  if (!location?.pages) return null;
  const page = quote?.page ?? location.pages.first;
  const part = quote ? { start: quote.start, end: quote.end } : null;
  const highlight = writeHighlight({ chunk: chunkNumber, part });
  return `${baseUrl}/documents/${documentId}/pages/${String(page)}.png?highlight=${highlight}`;
}

/**
 * Returns the address of the page for people that shows a document, with a passage of it marked where one is named. It
 * never expires; the page checks who may read.
 */
export function viewUrlOf(
  { documentId, chunkNumber }: { readonly documentId: string; readonly chunkNumber?: number },
  {
    baseUrl,
    quote,
  }: { readonly baseUrl: string; readonly quote?: Pick<SourceQuote, 'start' | 'end'> | undefined },
): string {
  const chunk = chunkNumber === undefined ? '' : `?chunk=${String(chunkNumber)}`;
  const part = quote ? `&quote=${String(quote.start)}-${String(quote.end)}` : '';
  return `${baseUrl}/view/${documentId}${chunk}${part}`;
}

/** An answer without sources says that nothing was found. */
const support = (answer: string, sources: readonly Source[]): Promise<Support> | Support =>
  sources.length === 0
    ? { quotes: [], unsupported: [] }
    : findSupport(
        answer,
        sources.map(({ text }) => text),
      );
