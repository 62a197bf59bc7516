import { z } from 'zod';
import { expiryOf, type CollectionRecord } from '../../shared/collections/collection-record.js';
import { isPlainObject } from '../../shared/json-values.js';
import type { MemberOutcome } from '../services/collections/collection-documents.js';
import { itemError, viewError } from './ingest/ingest-batch.js';

const timestamp = z.iso.datetime();
const users = z.array(z.string());

export const collectionView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string().nullable(),
    owner: z.string().describe('Who made the collection.'),
    metadata: z.record(z.string(), z.unknown()),
    filter: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('Of the documents that were put in, only those that match are found.'),
    access_control: z.object({
      readers: users.describe('Who may search within the collection.'),
      writers: users.describe('Who may also change it, and put documents in.'),
      admins: users.describe('Who may also change these lists.'),
    }),
    created_at: timestamp,
    updated_at: timestamp,
    last_active_at: timestamp.describe('The last use, or up to an hour before.'),
    expires_after: z.object({ anchor: z.literal('last_active_at'), days: z.int() }).nullable(),
    expires_at: timestamp.nullable().describe('When it is deleted if nobody uses it; null where it stays.'),
  })
  .meta({ id: 'Collection', description: 'A saved scope, into which documents are put.' });
export type CollectionView = z.infer<typeof collectionView>;

export function viewCollection(record: CollectionRecord): CollectionView {
  const { readers, writers, admins, filter, expiresAfterDays: days } = record;
  const expiry = expiryOf(record);
  return {
    id: record.id,
    name: record.name,
    description: record.description,
    owner: record.ownerId,
    metadata: record.metadata,
    filter: isPlainObject(filter) ? filter : null,
    access_control: { readers, writers, admins },
    created_at: timeOf(record.createdAtMs),
    updated_at: timeOf(record.updatedAtMs),
    last_active_at: timeOf(record.lastActiveAtMs),
    expires_after: days === null ? null : { anchor: 'last_active_at', days },
    expires_at: expiry === null ? null : timeOf(expiry),
  };
}

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

export const memberOutcome = z
  .object({
    document_id: z.string(),
    error: itemError.nullable().describe('Why nothing was done; null where it is done.'),
  })
  .meta({ id: 'CollectionMemberOutcome', description: 'What became of one document.' });

export const viewOutcome = ({ documentId, error }: MemberOutcome): z.infer<typeof memberOutcome> => ({
  document_id: documentId,
  error: error && viewError(error),
});
