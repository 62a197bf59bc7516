import { LEASE_ID } from './story.js';

const path = { document_id: LEASE_ID };
const success = { success: true as const };
const documentNotFound = { detail: 'Document not found' };

export const leaveDocumentExamples = {
  path,
  responses: {
    200: success,
    404: documentNotFound,
    409: { detail: 'The owner of a document cannot leave it. The owner can delete it' },
  },
};

export const acceptDocumentExamples = {
  path,
  responses: { 200: success, 202: success, 404: documentNotFound },
};
