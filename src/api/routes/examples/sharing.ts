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

const nothing = { shared: 'all' as const, blocked_owners: [], accepted_owners: [], accepted_documents: [] };
const own = { detail: 'What is your own is always found' };

export const sharingExamples = { responses: { 200: nothing } };

export const listOwnerExamples = {
  blocked: {
    path: { owner: 'mallory' },
    responses: { 200: { ...nothing, blocked_owners: ['mallory'] }, 409: own },
  },
  accepted: {
    path: { owner: 'bob' },
    responses: { 200: { ...nothing, accepted_owners: ['bob'] }, 409: own },
  },
};

export const unlistOwnerExamples = {
  blocked: { path: { owner: 'mallory' }, responses: { 200: nothing } },
  accepted: { path: { owner: 'bob' }, responses: { 200: nothing } },
};
