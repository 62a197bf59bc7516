import { TOO_MANY_ACCESS_GROUPS, UNKNOWN_ACCESS_GROUP } from '../../access/access-group-scripts.js';
import { accessGroupOf } from '../../access/access-group.js';
import type { AccessGroups } from '../../access/access-groups.js';
import type { VectorSet } from '../../data-set/stored-vectors.js';
import { callerOf, isFinal, type DocumentRecord } from '../../document.js';
import { NotFoundError, TooManyError, UnavailableError } from '../../errors.js';
import {
  LOST_RESERVATION,
  reservationFields,
  reservationKey,
} from '../../idempotency/reservation-scripts.js';
import { UnderWayError } from '../../idempotency/reservation.js';
import type { Redis } from '../../redis/client.js';
import { keys, toMember } from '../../redis/keys.js';
import { isShortSource } from '../../storage/short-sources.js';
import { hasAttachmentWork } from '../attachments/attachment-changes.js';
import type { Change } from '../change.js';
import { commitScript, commitWholeScript, DELETED, NOT_WHOLE, REINDEXED } from './commit-script.js';
import { contentFields, SAME_CONTENT, SameContentError } from '../content-hashes.js';
import { overQuota, ownedFields, type Quotas } from '../owned.js';
import { changedFields, GROUP_FIELD, LINE_DIGEST } from '../record-fields.js';

/** The parts that write a change. */
export interface CommitParts {
  readonly redis: Redis;
  readonly vectors: VectorSet;
  readonly groups: Pick<AccessGroups, 'register'>;
  readonly quotas: Quotas;
}

/**
 * Writes a change of a record with its effects, in one step.
 * @returns 1 when the change is written, 0 when the record, or the record that it stands beside, has changed since `before`
 * @throws UnavailableError when the data was reindexed or is incomplete; TooManyError when access changes too often;
 *   OverQuotaError
 */
export async function commitChange(
  { redis, vectors, groups, quotas }: CommitParts,
  id: string,
  before: DocumentRecord | null,
  change: Change,
): Promise<number> {
  const request = commitRequest(id, before, { change, vectors, quotas });
  const script = change.whole ? commitWholeScript : commitScript;
  let done = await script.run(redis, request);
  while (done === UNKNOWN_ACCESS_GROUP) {
    // The group must be known to its callers before a record refers to it.
    const group = change.record ? accessGroupOf(change.record) : null;
    if (group) await groups.register(group);
    done = await script.run(redis, request);
  }
  const refusal = refusalOf(done, quotas);
  if (refusal) throw refusal;
  if (done === NOT_WHOLE && change.beside) return 0;
  if (done === NOT_WHOLE) throw new UnavailableError('a part of the generation that Redis came back without');
  if (done === TOO_MANY_ACCESS_GROUPS) throw tooManyChanges();
  if (done === REINDEXED) throw new UnavailableError('the index that these vectors are for');
  return done;
}

/** Returns the reason why a record is not written, where trying again would change nothing. */
export function refusalOf(done: number, quotas: Quotas): Error | null {
  switch (done) {
    case SAME_CONTENT:
      return new SameContentError();
    case LOST_RESERVATION:
      return new UnderWayError();
    case DELETED:
      return new NotFoundError('Document not found');
    default:
      return overQuota(done, quotas);
  }
}

/** The keys that are the same for all documents. */
const COMMON_KEYS = [
  keys.sequence,
  keys.changes,
  keys.tombstones,
  keys.unfinished,
  keys.hidden,
  keys.garbage,
  keys.usageDirty,
  keys.unreferencedObjects,
  keys.draftObjects,
  keys.schema,
  keys.ingests,
  keys.ingestsByCaller,
  keys.unreferencedAccessGroups,
  keys.accessGroupsWaiting,
] as const;

/** A change, and the settings that it is written with. */
interface Written extends Pick<CommitParts, 'vectors' | 'quotas'> {
  readonly change: Change;
}

/** The keys and arguments of the script, in the order in which it reads them; the record's own key comes first. */
export function commitRequest(
  id: string,
  before: DocumentRecord | null,
  { change, vectors, quotas }: Written,
) {
  const ownerId = ownerOf(change.record ?? before);
  const { usage = [], whole } = change;
  const fields = change.record ? changedFields(before, change.record, whole?.tags) : {};
  const values = [
    ...Object.entries(fields).flat(),
    ...(change.source ? [change.source.storageKey, change.source.bytes] : []),
    ...(change.lineDigest === undefined ? [] : [LINE_DIGEST, change.lineDigest]),
    ...(change.group === undefined ? [] : [GROUP_FIELD, change.group]),
  ];
  const payload = {
    ...commitPayload(id, before, { change, isTagged: 'tags' in fields }),
    ...ownedFields(before, change, quotas),
    vectors: vectors.field,
  };
  const touched = touchedHashes(change);
  return {
    keys: [
      keys.document(id),
      ...COMMON_KEYS,
      ...ownersKeys(ownerId, change),
      ...usage.map((event) => keys.usagePending(event.userId)),
      ...touched.map(({ key }) => key),
      ...(whole?.keys ?? []),
    ],
    arguments: [
      JSON.stringify({ ...payload, touched: touched.map(({ name }) => name), values: values.length }),
      keys.changed,
      String(usage.length),
      keys.accessGroup(''),
      ...usage.flatMap((event) => [toMember(event.userId), JSON.stringify(event)]),
      ...values,
      ...(whole?.arguments ?? []),
    ],
  };
}

const ownersKeys = (ownerId: string, { reservation }: Change) => [
  keys.contentHashes(ownerId),
  reservationKey(reservation),
  keys.owned(ownerId),
  keys.ownedTotals,
];

function ownerOf(record: DocumentRecord | null): string {
  if (!record) throw new Error('there is no document to remove');
  return record.ownerId;
}

/** The hashes that the change reads or writes beside the record's own, by the names that the script has for them. */
function touchedHashes({ open, unhide, discard = [], expected = [], beside }: Change) {
  const named = [open, unhide, ...discard, ...expected.map(({ generation }) => generation)];
  const generations = [...new Set(named)].filter((generation) => generation !== undefined);
  return [
    ...generations.map((name) => ({ name, key: keys.generation(name) })),
    ...(beside ? [{ name: beside.id, key: keys.document(beside.id) }] : []),
  ];
}

/** Fields of these hashes that must hold these values. */
const expectedFields = ({ expected = [], beside }: Change) => [
  ...expected.map(({ generation, field, value }) => [generation, field, value]),
  ...(beside ? [[beside.id, 'revision', String(beside.revision)]] : []),
];

const tooManyChanges = () =>
  new TooManyError('Too many changes of access are still being made', { retryAfterSeconds: 2 });

function commitPayload(
  id: string,
  before: DocumentRecord | null,
  { change, isTagged }: { readonly change: Change; readonly isTagged: boolean },
) {
  const { discardObjects = [] } = change;
  const referred = change.record?.pending?.storageKey ?? '';
  const common = {
    id,
    now: String(Date.now()),
    revision: before ? String(before.revision) : '',
    // An empty text stands for a missing value, since fields of a Lua table cannot be null.
    open: change.open ?? '',
    unhide: change.unhide ?? '',
    discard: change.discard ?? [],
    objects: discardObjects.filter((key) => !isShortSource(key)),
    dropped: discardObjects.filter(isShortSource),
    ...contentFields(before, change),
    ...reservationFields(change.reservation),
    // A short source was never a draft.
    referred: isShortSource(referred) ? '' : referred,
    evenWhenFull: change.evenWhenFull ?? false,
    expected: expectedFields(change),
  };
  if (change.removed) return { ...common, removed: true, ingestOf: '', unfinished: false, settled: true };
  return {
    ...common,
    removed: false,
    groups: accessGroupsOf(before, change.record, isTagged),
    keepsAccessGroups: change.record.retag > 0,
    // The caller whose ingest is running. The script counts it in the same step, so that the count is always exact.
    ingestOf: isFinal(change.record) ? '' : toMember(callerOf(change.record)),
    unfinished: !isFinal(change.record) || change.record.retag > 0 || hasAttachmentWork(change.record),
    // Somebody may wait for the end of an ingest or of a re-tagging.
    settled: isFinal(change.record) || (before !== null && before.retag > change.record.retag),
  };
}

/** The groups that the tags of a record, or of chunks that are being re-tagged, may name; null when they do not change. */
function accessGroupsOf(
  before: DocumentRecord | null,
  after: DocumentRecord,
  isTagged: boolean,
): string[] | null {
  if (!isTagged && before?.retag === after.retag) return null;
  const group = accessGroupOf(after);
  return group ? [group.id] : [];
}
