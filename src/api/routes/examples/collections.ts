import { writePlace } from '../../http/validation/paging.js';
import type { CollectionView } from '../collection-view.js';
import { documentNotFound, HANDOVER_ID, LEASE_ID } from './story.js';

export const COLLECTION_ID = '4c1e9a52-7b0d-4d68-8f3a-2e5b90c7d614';

/** The place before all collections of the story. */
const cursor = writePlace(`2051226000000${COLLECTION_ID}`);
const path = { collection_id: COLLECTION_ID };
const member = { ...path, document_id: LEASE_ID };
export const collectionNotFound = { detail: `Collection '${COLLECTION_ID}' not found` };
const tooManyChanges = { detail: 'A request with this Idempotency-Key is still under way' };

const collection: CollectionView = {
  id: COLLECTION_ID,
  name: 'Mill Lane',
  description: 'All about the office',
  owner: 'alice',
  metadata: { city: 'Lewes' },
  filter: { year: 2025 },
  access_control: { readers: ['alice', 'bob'], writers: ['alice'], admins: ['alice'] },
  created_at: '2025-03-03T09:30:00.000Z',
  updated_at: '2025-03-03T09:30:00.000Z',
  last_active_at: '2025-03-03T09:30:00.000Z',
  expires_after: { anchor: 'last_active_at', days: 90 },
  expires_at: '2025-06-01T09:30:00.000Z',
};

export const createCollectionExamples = {
  idempotencyKey: 'collection-of-mill-lane',
  plain: { name: 'Mill Lane' },
  body: {
    name: 'Mill Lane',
    description: 'All about the office',
    metadata: { city: 'Lewes' },
    filter: { year: 2025 },
    access_control: { readers: ['bob'] },
    expires_after: { anchor: 'last_active_at' as const, days: 90 },
  },
  responses: {
    200: collection,
    404: collectionNotFound,
    409: { detail: 'You have 10000 collections already: delete one first' },
  },
};

export const listCollectionsExamples = {
  query: { limit: 10, cursor, order: 'desc' as const },
  responses: { 200: [collection] },
};

export const getCollectionExamples = { path, responses: { 200: collection, 404: collectionNotFound } };

export const patchCollectionExamples = {
  path,
  plain: { name: '12 Mill Lane' },
  body: { name: '12 Mill Lane', filter: null },
  responses: {
    200: { ...collection, name: '12 Mill Lane', filter: null },
    404: collectionNotFound,
    409: tooManyChanges,
  },
};

export const deleteCollectionExamples = {
  path,
  query: { documents: 'keep' as const },
  responses: {
    200: { success: true, documents_deleted: 0 },
    202: { success: false, documents_deleted: 4_200 },
    404: collectionNotFound,
  },
};

export const changeMembersExamples = {
  path,
  plain: { add: [LEASE_ID] },
  body: { add: [LEASE_ID, HANDOVER_ID], remove: [] },
  responses: {
    200: [
      { document_id: LEASE_ID, error: null },
      { document_id: HANDOVER_ID, error: null },
    ],
    404: collectionNotFound,
  },
};

const success = { success: true as const };

export const putMemberExamples = {
  path: member,
  responses: { 200: success, 202: success, 404: documentNotFound },
};

export const takeMemberExamples = {
  path: member,
  responses: { 200: success, 202: success, 404: collectionNotFound },
};
