import type { StoredChunk } from '../../shared/chunks/fields.js';
import type { DocumentRecord } from '../../shared/document.js';
import type { Highlight } from '../../shared/page-pictures/highlight.js';
import type { Documents } from '../services/documents/read-documents.js';
import type { DocumentRequest } from '../services/documents/document-access.js';

/** The parts of a document that a page shows: the passage, the one before it and the one after it. */
export interface ShownPassages {
  readonly record: DocumentRecord;
  /** Null for the first chunk where there is none before it, or no such chunk at all. */
  readonly before: StoredChunk | null;
  /** Null while nothing of the document is published. */
  readonly passage: StoredChunk | null;
  readonly after: StoredChunk | null;
  /** The bounds of the quote in the text of the passage; null where nothing is quoted that it has. */
  readonly quote: NonNullable<Highlight['part']> | null;
  /** True where the wanted passage or quote is not there any more. */
  readonly isChanged: boolean;
}

type Wanted = Highlight | null;

/**
 * Reads a passage and those around it; the beginning of the document where there is no such passage.
 * @throws ForbiddenError, NotFoundError
 */
export async function readPassages(
  documents: Pick<Documents, 'chunks' | 'get'>,
  request: DocumentRequest & { readonly signal: AbortSignal },
  wanted: Wanted,
): Promise<ShownPassages> {
  const read = async (skip: number, limit: number) =>
    gather(await documents.chunks(request, { skip, limit }));
  const number = wanted?.chunk ?? 0;
  const around = await read(Math.max(0, number - 1), number === 0 ? 2 : 3);
  const isThere = around.some((chunk) => chunk.number === number);
  const chunks = isThere ? around : await read(0, 2);
  const find = (wantedNumber: number) => chunks.find((chunk) => chunk.number === wantedNumber) ?? null;
  const shown = isThere ? number : 0;
  const passage = find(shown);
  const quote = isThere && passage && wanted?.part ? quoteIn(passage, wanted.part) : null;
  return {
    // It is read last: whoever may no longer read the document gets nothing.
    record: await documents.get(request),
    before: find(shown - 1),
    passage,
    after: find(shown + 1),
    quote,
    isChanged: passage !== null && (!isThere || (wanted?.part != null && quote === null)),
  };
}

/** The part of a quote that a passage has, without halves of characters; null where it begins behind its end. */
function quoteIn({ text }: StoredChunk, { start, end }: NonNullable<Highlight['part']>) {
  if (start >= text.length) return null;
  return { start: isInside(text, start) ? start - 1 : start, end: isInside(text, end) ? end + 1 : end };
}

/** Tells whether a place is between the two units of one character. */
const isInside = (text: string, place: number): boolean => (text.codePointAt(place - 1) ?? 0) > 0xffff;

async function gather<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
