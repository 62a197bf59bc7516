import { at } from '../../../shared/at.js';
import type { Principal } from '../../../shared/access/access.js';
import type { Shared, SharedViews } from '../../../shared/access/sharing.js';
import type { CachePassage, TextPart } from '../../../shared/caches/passages.js';
import type { Chunks } from '../../../shared/chunks/chunks.js';
import type { DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import { findSupport, type Support } from '../../../shared/models/support.js';
import type { Quote } from '../../../shared/ports.js';
import type { TextSpan } from '../../../shared/text/sentences.js';
import { quoteSources, toSource, type Source, type Sources } from '../retrieval/sources.js';

/** The most sources of an answer of a cache: those of which it quotes most. */
export const MAX_SOURCES = 20;

export interface CacheSourceParts {
  readonly records: Pick<Records, 'readEach'>;
  readonly chunks: Pick<Chunks, 'readTexts'>;
  readonly sharedViews: Pick<SharedViews, 'predicateOf'>;
}

interface CacheReader {
  readonly principal: Principal;
  readonly shared: Shared;
  readonly baseUrl: string;
}

interface CacheAnswerText {
  readonly text: string;
  /** The sentences of whole texts that the engine says it has repeated, if it does. */
  readonly quotes: readonly Quote[] | undefined;
  /** The texts of the prompt, in their order. */
  readonly passages: readonly CachePassage[];
}

/**
 * Finds the chunks that an answer over whole documents quotes, and the sentences that none of them supports. Chunks of documents
 * that were closed or changed since the prompt was made are left out.
 */
export async function findCacheSources(
  parts: CacheSourceParts,
  reader: CacheReader,
  { text, quotes: known, passages }: CacheAnswerText,
): Promise<Sources> {
  if (passages.length === 0) return { sources: [], unsupported: [] };
  const { quotes, unsupported } = known ? { quotes: known, unsupported: [] } : await support(text, passages);
  const found = await readQuoted(parts, reader, bestChunks(quotes, passages));
  const sources = found.map(({ source }) => source);
  const placed = found.flatMap(({ spans }, passage) => spans.map((span) => ({ passage, ...span })));
  const quoted = await quoteSources(sources, { text, quotes: placed, baseUrl: reader.baseUrl });
  return { sources: quoted.sources, unsupported };
}

/** Looks in the texts part by part, so that no step is long; a part has the end of the one before it, as its chunk does. */
async function support(answer: string, passages: readonly CachePassage[]): Promise<Support> {
  const pieces = passages.flatMap(({ text, parts }, passage) =>
    parts.map(({ start, overlap }, i) => {
      const from = Math.max(0, start - overlap);
      return { passage, from, text: text.slice(from, parts[i + 1]?.start) };
    }),
  );
  const texts = pieces.map(({ text }) => text);
  const found = await findSupport(answer, texts, (piece) => at(pieces, piece).passage);
  const quotes = found.quotes.map(({ passage: number, start, end }) => {
    const { passage, from } = at(pieces, number);
    return { passage, start: from + start, end: from + end };
  });
  return { quotes, unsupported: found.unsupported };
}

/** A chunk of which an answer quotes something. */
interface QuotedChunk {
  readonly passage: CachePassage;
  readonly part: TextPart;
  /** The quoted sentences, by their bounds in the whole text. */
  readonly spans: TextSpan[];
}

/** The chunks that hold most of what is quoted, the ones with most of it first, then in the order of the texts. */
function bestChunks(quotes: readonly Quote[], passages: readonly CachePassage[]): QuotedChunk[] {
  const byChunk = new Map<TextPart, QuotedChunk>();
  for (const { passage: number, start, end } of quotes) {
    const passage = at(passages, number);
    const part = partOf(passage, { start, end });
    if (!part) continue;
    const chunk = byChunk.get(part) ?? { passage, part, spans: [] };
    byChunk.set(part, chunk);
    chunk.spans.push({ start, end });
  }
  return [...byChunk.values()]
    .toSorted((one, other) => quotedLength(other) - quotedLength(one))
    .slice(0, MAX_SOURCES);
}

const quotedLength = ({ spans }: QuotedChunk): number =>
  spans.reduce((sum, { start, end }) => sum + end - start, 0);

/** The part in which a sentence begins, or the next one if that repeats the beginning and has the end. */
function partOf({ parts }: CachePassage, { start, end }: TextSpan): TextPart | undefined {
  const place = parts.findLastIndex((part) => part.start <= start);
  const next = parts[place + 1];
  const isInNext = next !== undefined && end > next.start && next.start - next.overlap <= start;
  return isInNext ? next : parts[place];
}

interface FoundSource {
  readonly source: Source;
  /** Where the quoted sentences stand in its text. */
  readonly spans: readonly TextSpan[];
}

/** Reads chunks, and then the records that say who may read them. */
async function readQuoted(
  { records, chunks, sharedViews }: CacheSourceParts,
  { principal, shared }: CacheReader,
  quoted: readonly QuotedChunk[],
): Promise<FoundSource[]> {
  const stored = await Promise.all(
    quoted.map(async ({ passage, part }) => (await chunks.readTexts(passage.generation, part.number, 1))[0]),
  );
  const isUsable = await sharedViews.predicateOf({ principal, shared });
  const ids = [...new Set(quoted.map(({ passage }) => passage.documentId))];
  const readable = new Map<string, DocumentRecord>();
  for await (const record of records.readEach(ids, principal.id))
    if (record && isUsable(record)) readable.set(record.id, record);
  const total = quoted.reduce((sum, chunk) => sum + quotedLength(chunk), 0);
  return quoted.flatMap((chunk, i) => {
    const { passage, part } = chunk;
    const [record, found] = [readable.get(passage.documentId), stored[i]];
    if (!found || record?.published?.generation !== passage.generation) return [];
    const { text: content, ...whereabouts } = found;
    const score = quotedLength(chunk) / total;
    const source = toSource({ ...whereabouts, record, number: part.number, content, score });
    const spans = chunk.spans.flatMap((span) => placeIn(content, chunk, span));
    return spans.length === 0 ? [] : [{ source, spans: spans.toSorted((a, b) => a.start - b.start) }];
  });
}

/** Where a sentence stands in the text of its chunk, as far as the chunk has it; nowhere if that does not have it. */
function placeIn(content: string, { passage, part }: QuotedChunk, { start, end }: TextSpan): TextSpan[] {
  const sentence = passage.text.slice(start, end);
  const place = start - part.start + part.overlap;
  const there = place < 0 ? '' : content.slice(place, place + sentence.length);
  if (there !== '' && sentence.startsWith(there)) return [{ start: place, end: place + there.length }];
  const other = content.indexOf(sentence);
  return other < 0 ? [] : [{ start: other, end: other + sentence.length }];
}
