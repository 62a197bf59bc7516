import { at } from '../../at.js';
import { wholeFields, type WholeTexts } from '../../chunks/write-whole.js';
import { withLengths } from '../../chunks/fields.js';
import type { VectorSet } from '../../data-set/stored-vectors.js';
import { laterRevision, type DocumentRecord } from '../../document.js';
import { UnavailableError } from '../../errors.js';
import type { Redis } from '../../redis/client.js';
import { keys, toMember } from '../../redis/keys.js';
import { groupTerms, settledField } from '../../term-statistics/scripts.js';
import type { UsageEvent } from '../../usage/usage.js';
import { GROUP_REINDEXED, publishGroupScript } from './publish-group-script.js';
import { OWNED_FIELD, ownedWith, writeOwned, type Quotas } from '../owned.js';
import { changedJsonFields } from '../record-fields.js';

/** A new document as it was read, and as it is to be published. */
export interface PublishedText {
  readonly before: DocumentRecord;
  readonly after: DocumentRecord;
  /** The tags of the record where publishing changes them, but not who may read it. */
  readonly newTags: string | null;
  readonly usage: readonly UsageEvent[];
  readonly whole: WholeTexts;
}

/** The terms of all chunks of documents that are published together. */
export interface GroupTerms {
  readonly chunks: number;
  /** The occurrences of all terms in all chunks. */
  readonly length: number;
  /** For each term, how many of the chunks hold it. */
  readonly frequencies: ReadonlyMap<number, number>;
}

/** New documents of one owner that are published together. */
export interface PublishedGroup {
  readonly documents: readonly PublishedText[];
  /** The user whose usage the events are. */
  readonly userId: string;
  readonly terms: GroupTerms;
  /** The owner whose term statistics count them; null for nobody's. */
  readonly owner: string | null;
}

interface PublishParts {
  readonly redis: Redis;
  readonly vectors: VectorSet;
  readonly quotas: Quotas;
}

/** See `Records`. @throws UnavailableError when the data was reindexed */
export async function publishGroup(
  { redis, vectors, quotas }: PublishParts,
  { documents, userId, terms, owner }: PublishedGroup,
): Promise<number[]> {
  const events = documents.flatMap(({ usage }) => usage.map((event) => JSON.stringify(event)));
  const refused = await publishGroupScript.run(redis, {
    keys: keysOf(documents, { userId, owner, ownerId: at(documents, 0).before.ownerId }),
    arguments: [
      vectors.field,
      toMember(userId),
      keys.changed,
      String(documents.length),
      String(quotas.chunks ?? -1),
      ...documents.flatMap(({ before, after, whole }) => [
        before.id,
        String(before.revision),
        whole.generation,
        writeOwned(ownedWith(after)),
      ]),
      ...documents.flatMap((document) => rowsOf(document, { vectors, owner })),
      String(events.length),
      ...events,
      String(owner === null ? 0 : terms.chunks),
      String(terms.length),
      ...(owner === null ? [] : groupTerms(terms.frequencies)),
    ],
  });
  if (refused[0] === GROUP_REINDEXED) throw new UnavailableError('the index that these vectors are for');
  return refused;
}

function keysOf(
  documents: readonly PublishedText[],
  { userId, owner, ownerId }: Pick<PublishedGroup, 'userId' | 'owner'> & { readonly ownerId: string },
): string[] {
  return [
    keys.sequence,
    keys.changes,
    keys.unfinished,
    keys.hidden,
    keys.usageDirty,
    keys.schema,
    keys.ingests,
    keys.ingestsByCaller,
    keys.statistics(owner),
    keys.usagePending(userId),
    keys.owned(ownerId),
    keys.ownedTotals,
    ...documents.map(({ before }) => keys.document(before.id)),
    ...documents.map(({ whole }) => keys.generation(whole.generation)),
    ...documents.flatMap(({ whole: { generation, chunks } }) =>
      chunks.map(({ number }) => keys.chunk(generation, number)),
    ),
  ];
}

/** The fields of a record, of its generation and of its chunks, as the script reads them. */
function rowsOf(
  { before, after, newTags, whole }: PublishedText,
  { vectors, owner }: { readonly vectors: VectorSet; readonly owner: string | null },
): (string | Buffer)[] {
  const changed = changedJsonFields(before, { ...after, revision: laterRevision(before.revision) });
  const { fields, rows } = wholeFields(vectors, whole);
  const counted = settledField(0, owner);
  const tagged = newTags === null ? [] : ['tags', newTags];
  return [
    ...withLengths([
      [...Object.entries(changed).flat(), OWNED_FIELD, writeOwned(ownedWith(after)), ...tagged],
      [...fields, counted.field, counted.value],
    ]),
    String(rows.length),
    ...withLengths(rows),
  ];
}
