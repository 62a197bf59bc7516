import type { StoredChunk } from '../../../shared/chunks/fields.js';
import { shownContent, type DocumentRecord, type Metadata } from '../../../shared/document.js';
import { ConflictError, ForbiddenError } from '../../../shared/errors.js';
import { noteDocuments } from '../../../shared/audit/notes.js';
import type { Location } from '../../../readers/index.js';
import { documentNotFound } from '../../services/documents/document-access.js';
import type { Documents } from '../../services/documents/read-documents.js';
import type { McpRequest } from './tool.js';

/**
 * A text of this many characters takes some 6,000 tokens, of which a host may hold two copies: hosts cut answers off
 * above 25,000.
 */
const MAX_CHARACTERS = 24_000;
/** The chunks that are read at a time. */
const STEP = 16;
/** The chunks that are read before and behind a passage. */
const NEIGHBOURS = 2;
const MAX_TITLE_CHARACTERS = 80;

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const PLACE = new RegExp(`^(${UUID})(?:-(\\d{1,9})(\\.\\.)?)?$`);

export const PLACE_DESCRIPTION =
  'The id of a result of a search: its passage, and those around it. Or the id of a document: its text from the ' +
  'beginning. A text that is cut tells the id with which it goes on.';

/** The chunks that are asked for, from 0. */
interface Place {
  readonly documentId: string;
  /** The chunk that the id names; undefined for a whole document. */
  readonly chunkNumber?: number;
  readonly first: number;
  /** The number behind the last one. */
  readonly end: number;
}

/** The id of a passage, which is the id that its chunk has everywhere. */
export const passageId = (documentId: string, chunkNumber: number): string =>
  `${documentId}-${String(chunkNumber)}`;

/** Returns the place that an id names; null for a text that is no id. */
function placeOf(id: string): Place | null {
  const [, documentId, number, goesOn] = PLACE.exec(id) ?? [];
  if (documentId === undefined) return null;
  if (number === undefined) return { documentId, first: 0, end: Infinity };
  const chunk = Number(number);
  const named = { documentId, chunkNumber: chunk };
  if (goesOn !== undefined) return { ...named, first: chunk, end: Infinity };
  return { ...named, first: Math.max(0, chunk - NEIGHBOURS), end: chunk + NEIGHBOURS + 1 };
}

/** A part of the text of a document, as large as an answer may be. */
export interface PassageText {
  readonly record: DocumentRecord;
  readonly place: Pick<Place, 'documentId' | 'chunkNumber'>;
  readonly text: string;
  /** The number of its first chunk, of all that the document has. */
  readonly first: number;
  readonly last: number;
  readonly count: number;
  /** The id with which the text goes on; null at its end. */
  readonly next: string | null;
}

/**
 * Reads the part of a document that an id names. A document that the caller may not read is like one that is not there.
 * @throws NotFoundError; ConflictError while the document has no text
 */
export async function readPassage(
  documents: Documents,
  id: string,
  { caller: { principal }, signal }: McpRequest,
): Promise<PassageText> {
  const place = placeOf(id);
  if (!place) throw documentNotFound();
  const request = { documentId: place.documentId, principal, signal };
  try {
    const record = await documents.get(request);
    if (!record.published) throw new ConflictError(`The document has no text yet: it is ${record.status}`);
    const count = record.published.chunkCount;
    const chunks = await readChunks(place, count, (page) => documents.chunks(request, page));
    noteDocuments([record.id]);
    const last = chunks.at(-1)?.number;
    if (last === undefined) throw documentNotFound();
    const next = last + 1 < count ? `${passageId(record.id, last + 1)}..` : null;
    return { record, place, text: joined(chunks), first: place.first, last, count, next };
  } catch (error) {
    throw error instanceof ForbiddenError ? documentNotFound() : error;
  }
}

type ReadPage = (page: { skip: number; limit: number }) => Promise<AsyncIterable<StoredChunk>>;

/** Reads chunks until the text is long enough, one at least. */
async function readChunks({ first, end }: Place, count: number, read: ReadPage): Promise<StoredChunk[]> {
  const chunks: StoredChunk[] = [];
  let characters = 0;
  for (let skip = first; skip < Math.min(end, count); skip += STEP) {
    for await (const chunk of await read({ skip, limit: Math.min(STEP, end - skip) })) {
      characters += chunk.text.length;
      if (chunks.length > 0 && characters > MAX_CHARACTERS) return chunks;
      chunks.push(chunk);
    }
  }
  return chunks;
}

/** Each chunk repeats the end of the one before. */
const joined = (chunks: readonly StoredChunk[]): string =>
  chunks.map(({ text, overlap }, i) => (i === 0 ? text : text.slice(overlap))).join('');

/** The text, and where it is not the whole document, a last line that says so. */
export function tellingText({ text, first, last, count, next }: PassageText): string {
  if (first === 0 && next === null) return text;
  const part = `This is part of the document: chunks ${String(first)} to ${String(last)} of 0 to ${String(count - 1)}.`;
  return `${text}\n\n[${part}${next === null ? '' : ` It goes on with the id ${next}`}]`;
}

interface Named {
  /** Null for a text without a name. */
  readonly filename: string | null;
  readonly metadata: Metadata;
  /** The text that is shown of it. */
  readonly text: string;
  readonly location?: Location | null;
}

/** A title that is never empty: the one that its owner gave it, the name of the file, or its first words; and the page. */
export function titleOf({ filename, metadata, text, location }: Named): string {
  const stated = metadata['title'];
  const name = typeof stated === 'string' && stated.trim() !== '' ? stated : filename;
  const page = location?.pages ?? location?.slides;
  const words = shorten(name ?? text) || 'Document';
  return page ? `${words}, ${location?.pages ? 'page' : 'slide'} ${String(page.first)}` : words;
}

/** Titles are one line. */
function shorten(text: string): string {
  const characters = Array.from(
    text
      .trimStart()
      .slice(0, 4 * MAX_TITLE_CHARACTERS)
      .replace(/\s+/g, ' ')
      .trim(),
  );
  if (characters.length <= MAX_TITLE_CHARACTERS) return characters.join('').toWellFormed();
  return `${characters
    .slice(0, MAX_TITLE_CHARACTERS - 1)
    .join('')
    .toWellFormed()}…`;
}

/** The title of a document of which no text is at hand. */
export function documentTitle(record: DocumentRecord, text = ''): string {
  return titleOf({ filename: shownContent(record).filename, metadata: record.metadata, text });
}
