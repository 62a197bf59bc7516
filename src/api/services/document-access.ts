import { canChangeAccess, canRead, canWrite } from '../../shared/access.js';
import type { DocumentRecord } from '../../shared/document.js';
import { AppError } from '../../shared/errors.js';
import type { Records } from '../../shared/records.js';

/** What a caller wants to do with a document. */
export type DocumentRight = 'read' | 'write' | 'change access';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Ids come from outside and become part of keys: whatever is no id of ours names no document. */
export const isDocumentId = (id: string): boolean => uuid.test(id);

export const documentNotFound = (): AppError => new AppError(404, 'Document not found');

/** @throws AppError 403 */
export function requireRight(record: DocumentRecord, callerId: string, right: DocumentRight): void {
  if (!hasRight(record, callerId, right)) throw new AppError(403, 'Insufficient permissions');
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

/** @throws AppError 404 for an unknown document, 403 for one that the caller may not touch so */
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
