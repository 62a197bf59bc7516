import { BATCH_SIZE } from '../../../shared/batches.js';
import type { Chunks } from '../../../shared/chunks/chunks.js';
import type { Content, DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import { ConflictError, NotFoundError } from '../../../shared/errors.js';
import { addGaps, type Gap, missingAttachment, type Receipt } from '../../../readers/index.js';
import { EMBEDDED_IN_PARTS, unpackReceipt } from '../../../shared/chunks/stored-receipt.js';
import { readDocument, type DocumentRequest } from './document-access.js';

interface Dependencies {
  readonly records: Records;
  readonly chunks: Pick<Chunks, 'generation' | 'readTexts' | 'receipt'>;
}

export interface DocumentExtraction {
  readonly documentId: string;
  readonly version: number;
  readonly receipt: Receipt;
  /** Documents of attachments of earlier contents that stay, because who has replaced or cancelled that may not remove them. */
  readonly formerAttachments: readonly string[];
}

/**
 * Reads the receipt of a document's published version.
 * @throws ForbiddenError, NotFoundError; ConflictError while nothing is published
 */
export type ReadExtraction = (request: DocumentRequest) => Promise<DocumentExtraction>;

export function createReadExtraction(parts: Dependencies): ReadExtraction {
  return async (request) => {
    for (;;) {
      const content = (await readDocument(parts.records, request, 'read')).published;
      if (content?.generation == null) throw new ConflictError('The document has not been read yet');
      const receipt = await readReceipt(parts, content, content.generation);
      // The record is read again at the end, so that no revocation and no new version is missed.
      const now = await readDocument(parts.records, request, 'read');
      if (now.published?.generation !== content.generation) continue;
      if (!receipt) throw new NotFoundError('The document was read before extractions were noted; retry it');
      const formerAttachments = now.replacedAttachments?.kept ?? [];
      const { documentId } = request;
      return { documentId, version: content.version, receipt: withFates(receipt, now), formerAttachments };
    }
  };
}

/** Texts may have no receipt, since all of each is read as it is. */
async function readReceipt(
  { chunks }: Dependencies,
  { kind, chunkCount, tokenCount }: Content,
  generation: string,
): Promise<Receipt | null> {
  const receipt = await chunks.receipt(generation);
  if (receipt || kind === 'file') return receipt;
  let characters = 0;
  for (let first = 0; first < chunkCount; first += BATCH_SIZE) {
    const texts = await chunks.readTexts(generation, first, Math.min(BATCH_SIZE, chunkCount - first));
    for (const { text, overlap } of texts) characters += text.length - overlap;
  }
  const isInParts = (await chunks.generation(generation))?.inParts;
  return addGaps(
    { ...unpackReceipt('{}'), characters, tokens: tokenCount },
    isInParts ? [EMBEDDED_IN_PARTS] : [],
  );
}

const WAITS = 'The document of it is still to be made, as soon as there is room for one.';
const MISSED = 'It could not be read any more when there was room for a document of it.';

/** Adds the fate of attachments after the receipt was written. */
function withFates(receipt: Receipt, { published }: DocumentRecord): Receipt {
  const { waiting = [], missed = [] } = published?.carried ?? {};
  if (waiting.length + missed.length === 0) return receipt;
  const lost = new Set(missed);
  const reasonOf = (id: string | null): string | null => {
    if (id === null) return null;
    return lost.has(id) ? MISSED : waiting.includes(id) ? WAITS : null;
  };
  const attachments = receipt.attachments.map((each) => {
    const reason = reasonOf(each.document_id);
    return reason === null ? each : { ...each, document_id: null, reason };
  });
  const gaps = receipt.attachments.flatMap(({ filename, document_id: id }): Gap[] =>
    id !== null && lost.has(id) ? [missingAttachment(filename, MISSED)] : [],
  );
  return { ...addGaps(receipt, gaps), attachments };
}
