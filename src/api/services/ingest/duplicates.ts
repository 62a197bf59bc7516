import { hash } from 'node:crypto';
import { at } from '../../../shared/at.js';
import type { DocumentRecord } from '../../../shared/document.js';
import {
  contentMember,
  contentRange,
  documentOfMember,
  SameContentError,
} from '../../../shared/documents/content-hashes.js';
import type { Records } from '../../../shared/documents/records.js';
import { DuplicateError } from '../../../shared/errors.js';
import type { Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';
import { declareScript } from '../../../shared/redis/script.js';

/** The treatment of a content that the caller has already: another document, the existing one, or a refusal. */
export const ON_DUPLICATE = ['new', 'return', 'reject'] as const;
export type OnDuplicate = (typeof ON_DUPLICATE)[number];

/** Finds documents by their content, among documents that a caller owns and may read (see `contentMember`). */
export interface Duplicates {
  find(ownerId: string, sha256: string): Promise<DocumentRecord | null>;
  findText(ownerId: string, text: string): Promise<DocumentRecord | null>;
  /**
   * Finds the document that has the content of a record which was refused for that. Calls `write` where it has been deleted
   * since, so that the content is new again, and then resolves with null.
   */
  findOrWrite(record: DocumentRecord, write: () => Promise<void>): Promise<DocumentRecord | null>;
}

export function createDuplicates(redis: Redis, records: ReadInTurn): Duplicates {
  const find = (ownerId: string, sha256: string) => findByContent({ redis, records }, ownerId, sha256);
  return {
    find,
    findText: (ownerId, text) => find(ownerId, sha256Of(text)),
    findOrWrite: async ({ ownerId, pending }, write) => {
      for (;;) {
        const known = pending && (await find(ownerId, pending.sha256));
        if (known) return known;
        try {
          await write();
          return null;
        } catch (error) {
          if (!(error instanceof SameContentError) || !pending) throw error;
        }
      }
    },
  };
}

/** Returns the digest that a text is found by. */
export const sha256Of = (text: string): string => hash('sha256', text, 'hex');

/** @throws DuplicateError when a document of this content is to be refused */
export function refuseOrReturn({ id }: DocumentRecord, onDuplicate: OnDuplicate): void {
  if (onDuplicate === 'reject') throw new DuplicateError(id);
}

type ReadInTurn = Pick<Records, 'readMany' | 'inTurn'>;

interface Parts {
  readonly redis: Redis;
  readonly records: ReadInTurn;
}

/** Each entry is compared with its record. An entry that does not fit any more is taken away. */
async function findByContent(
  { redis, records }: Parts,
  ownerId: string,
  sha256: string,
): Promise<DocumentRecord | null> {
  const key = keys.contentHashes(ownerId);
  const { from, to } = contentRange(sha256);
  for (;;) {
    const members = await redis.zRange(key, from, to, { BY: 'LEX', LIMIT: { offset: 0, count: 1 } });
    if (members.length === 0) return null;
    const member = at(members, 0);
    const id = documentOfMember(member);
    const record = at(await records.inTurn(ownerId, () => records.readMany([id])), 0);
    if (record && contentMember(record) === member) return record;
    const revision = record ? String(record.revision) : '';
    await forgetScript.run(redis, {
      keys: { contents: key, record: keys.document(id) },
      args: { member, revision },
    });
  }
}

/** A process of an earlier version, or a hand, has changed the record without the entry. */
const forgetScript = declareScript({
  keys: { contents: 'key', record: 'key' },
  args: { member: 'text', revision: 'text' },
}).lua<number>(`
if revision ~= '' and redis.call('HGET', record, 'revision') ~= revision then return 0 end
return redis.call('ZREM', contents, member)
`);
