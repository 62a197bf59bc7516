import { canFind, type Principal } from '../../../shared/access/access.js';
import { at } from '../../../shared/at.js';
import type { Content, DocumentRecord, Metadata } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import { UnavailableError } from '../../../shared/errors.js';
import type { Filter } from '../../../shared/filters/parse.js';
import type { Explanation } from '../../../shared/search/explain-hits.js';
import type { TextSpan } from '../../../shared/text/sentences.js';
import { MissingObjectError } from '../../../shared/ports.js';
import { StreamedText, MAX_HELD_BYTES, type SourceTexts } from '../documents/source-text.js';
import type { DownloadUrl } from '../documents/downloads.js';
import { viewUrlOf } from './sources.js';

/** The part of a found document that a search holds. The rest is read when the document is about to be sent. */
export interface DocumentHit {
  readonly id: string;
  /** The content that was published when it was found. */
  readonly published: Content;
  /** Its best chunk. */
  readonly chunkNumber: number;
  readonly score: number;
  /** Absent where nobody asked for it, like the explanation. */
  readonly bestChunk?: BestChunk | undefined;
  readonly explanation?: Explanation | null | undefined;
}

/** The chunk by which a document was found, with the parts of its text by which it was. */
export interface BestChunk {
  readonly chunkNumber: number;
  readonly content: string;
  readonly highlights: readonly TextSpan[];
}

/** A found document as it is when it is about to be sent. */
export interface FoundDocument extends Pick<DocumentHit, 'bestChunk' | 'explanation'> {
  readonly score: number;
  readonly documentId: string;
  readonly owner: string;
  readonly metadata: Metadata;
  /** The address of the page for people that shows its best chunk. */
  readonly url: string;
  readonly content: FoundContent;
}

/** The whole text, or the download address of the file. */
type FoundContent =
  | { readonly type: 'string'; readonly value: string | StreamedText; readonly filename: null }
  | { readonly type: 'url'; readonly value: string; readonly filename: string | null };

interface ReadRequest {
  readonly principal: Principal;
  readonly baseUrl: string;
  readonly filter: Filter | null;
}

const CHECK_MILLISECONDS = 1_000;
/** The response has begun, so it can only be cut off. A repeated request gets a response without the document. */
const CHANGED = 'a document that was closed or changed while it was sent';

export interface FoundDocumentParts {
  readonly records: Pick<Records, 'read' | 'readMany' | 'inTurn'>;
  readonly texts: SourceTexts;
  readonly downloadUrl: DownloadUrl;
}

/**
 * Yields documents with their whole texts, one by one. Documents that were deleted, closed to the caller or changed so that
 * they no longer match are left out.
 */
export async function* readFoundDocuments(
  parts: FoundDocumentParts,
  found: readonly DocumentHit[],
  request: ReadRequest,
): AsyncGenerator<FoundDocument> {
  for (const each of found) {
    const current = await readCurrent(parts, each, request);
    if (!current) continue;
    const { score, bestChunk, explanation } = each;
    // A content that has come since then has another best chunk.
    const isSame = current.storageKey === each.published.storageKey;
    const { storageKey: _, ...shown } = current;
    const documentId = each.id;
    const url = viewUrlOf({ documentId, chunkNumber: each.chunkNumber }, request);
    yield { score, documentId, url, ...(isSame && { bestChunk, explanation }), ...shown };
  }
}

/**
 * Returns a found document as it is now, or null. Its record is read after its text, because sending earlier documents may
 * have taken a while. A text that is replaced while it is read is read again.
 */
async function readCurrent(
  parts: FoundDocumentParts,
  found: DocumentHit,
  request: ReadRequest,
): Promise<(Omit<FoundDocument, 'score' | 'documentId' | 'url'> & Pick<Content, 'storageKey'>) | null> {
  for (let published: Content | null = found.published; published;) {
    const text = published.kind === 'text' ? await openText(parts.texts, found.id, published) : null;
    // A document that cannot be read is left out, like one that is gone.
    const { records } = parts;
    const read = () => records.readMany([found.id]);
    const record: DocumentRecord | null = at(await records.inTurn(request.principal.id, read), 0);
    if (!record || !canFind(request.principal, record, request.filter)) return null;
    if (record.published?.storageKey !== published.storageKey) {
      published = record.published;
      continue;
    }
    const { storageKey } = published;
    const shown = { owner: record.ownerId, metadata: record.metadata, storageKey };
    if (published.kind === 'file') {
      const value = parts.downloadUrl(record, request);
      if (value === null) throw new Error('a file without an address to download it from');
      return { ...shown, content: { type: 'url', value, filename: published.filename } };
    }
    // Its source and its chunks are lost, which was logged. The other documents are still sent.
    if (text === null) return null;
    const value =
      text instanceof StreamedText
        ? new StreamedText(whileReadable(parts, text, { id: found.id, request }))
        : text;
    return { ...shown, content: { type: 'string', value, filename: null } };
  }
  return null;
}

/** While a text is being sent, checks every second that the caller may still read it, however slowly the client reads. */
async function* whileReadable(
  { records }: FoundDocumentParts,
  text: StreamedText,
  { id, request }: { id: string; request: ReadRequest },
): AsyncGenerator<string> {
  let checkedAt = performance.now();
  for await (const part of text.parts) {
    if (performance.now() - checkedAt > CHECK_MILLISECONDS) {
      const record = await records.inTurn(request.principal.id, () => records.read(id));
      if (!record || !canFind(request.principal, record, request.filter)) throw new UnavailableError(CHANGED);
      checkedAt = performance.now();
    }
    yield part;
  }
}

/** Opens a text; null when it is lost, or was replaced while it was read. */
async function openText(
  texts: SourceTexts,
  id: string,
  content: Content,
): Promise<string | StreamedText | null> {
  const parts = await texts.open(id, content);
  if (!parts) return null;
  if (content.sizeBytes > MAX_HELD_BYTES) return new StreamedText(parts);
  try {
    let text = '';
    for await (const part of parts) text += part;
    return text;
  } catch (error) {
    if (error instanceof MissingObjectError) return null;
    throw error;
  }
}
