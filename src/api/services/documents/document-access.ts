import { canChangeAccess, canRead, canWrite } from '../../../shared/access/access.js';
import type { DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import { ForbiddenError, NotFoundError } from '../../../shared/errors.js';

/** The right that a caller needs to a document. */
export type DocumentRight = 'read' | 'write' | 'change access';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Ids come from clients and become parts of Redis keys, so anything that is not a valid id names no document. */
export const isDocumentId = (id: string): boolean => uuid.test(id);

export const documentNotFound = (): NotFoundError => new NotFoundError('Document not found');

/** @throws ForbiddenError */
export function requireRight(record: DocumentRecord, callerId: string, right: DocumentRight): void {
  if (!hasRight(record, callerId, right)) throw new ForbiddenError('Insufficient permissions');
}

function hasRight(record: DocumentRecord, callerId: string, right: DocumentRight): boolean {
  switch (right) {
    case 'read':
      return canRead(callerId, record);
    case 'write':
      return canWrite(callerId, record);
    case 'change access':
      return canChangeAccess(callerId, record);
  }
}

export interface DocumentRequest {
  readonly documentId: string;
  readonly callerId: string;
}

/** @throws NotFoundError for an unknown document, ForbiddenError when the caller lacks the right */
export async function readDocument(
  records: Pick<Records, 'read'>,
  { documentId, callerId }: DocumentRequest,
  right: DocumentRight,
): Promise<DocumentRecord> {
  const record = isDocumentId(documentId) ? await records.read(documentId) : null;
  if (!record) throw documentNotFound();
  requireRight(record, callerId, right);
  return record;
}
