import type { DocumentEntry } from '../../src/index/index.js';
import type { Mirrored } from '../../src/shared/adapters/exact-index/mirror/mirror.js';
import { makeDocument } from './documents.js';

/** Makes the properties of a document as an index is told them; its readers decide the class of its access. */
export function makeEntry(
  statisticsOwner: string | null,
  changes: Parameters<typeof makeDocument>[0],
): DocumentEntry<Mirrored> {
  const { readers, writers, admins, ...fields } = makeDocument({ writers: [], admins: [], ...changes });
  const access = { readers, writers, admins };
  return { id: fields.id, fields, access, accessKey: readers.join(), statisticsOwner };
}
