import { requireRight, type DocumentRight, type Principal } from '../../../shared/access/access.js';
import type { DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import { NotFoundError } from '../../../shared/errors.js';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Ids come from clients and become parts of Redis keys, so anything that is not a valid id names no document. */
export const isDocumentId = (id: string): boolean => uuid.test(id);

export const documentNotFound = (): NotFoundError => new NotFoundError('Document not found');

export interface DocumentRequest {
  readonly documentId: string;
  readonly principal: Principal;
  /** Aborts when the caller goes away. */
  readonly signal?: AbortSignal | undefined;
}

/** @throws NotFoundError for an unknown document, ForbiddenError when the caller lacks the right */
export async function readDocument(
  records: Pick<Records, 'read' | 'inTurn'>,
  { documentId, principal, signal }: DocumentRequest,
  right: DocumentRight,
): Promise<DocumentRecord> {
  const read = () => records.read(documentId);
  const record = isDocumentId(documentId) ? await records.inTurn(principal.id, read, signal) : null;
  if (!record) throw documentNotFound();
  requireRight(principal, record, right);
  return record;
}
