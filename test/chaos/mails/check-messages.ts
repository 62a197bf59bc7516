import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { DocumentRecord } from '../../../src/shared/document.js';
import { hasAttachmentWork } from '../../../src/shared/documents/attachments/attachment-changes.js';
import type { Redis } from '../../../src/shared/redis/client.js';
import type { Arena } from '../arena.js';
import { askCalmly, forEachOf } from '../calm.js';
import { listAll } from '../oracle/lists.js';
import { readAllRecords } from '../oracle/records.js';
import { settleAll } from '../settle.js';
import { accessFor, NEIGHBOUR, POSTMASTER, type PostOffice } from './post-office.js';
import type { Carried, Message } from './write-message.js';

const PATIENCE_MS = 120_000;

export const isOfMail = ({ ownerId }: DocumentRecord): boolean => ownerId === POSTMASTER;

/** Compares all messages and their attachments that are left with the answers that were given. */
export async function checkMessages(arena: Arena, office: PostOffice, redis: Redis): Promise<void> {
  await repeatChanges(arena, office);
  const records = await settledRecords(arena, redis);
  checkPosted(arena, office, records);
  const carriedBy = new Map([...office.messages.values()].flatMap(withInner));
  for (const record of records) {
    const parentId = record.attachmentOf?.documentId;
    if (parentId !== undefined && !records.some(({ id }) => id === parentId))
      arena.history.violate('attachments go with their message', parentId, record.id);
    checkAccess(arena, record, records);
  }
  // A removal that was never answered may have removed some attachments.
  const whole = records.filter(
    (record) => office.posted.get(outermost(record, records))?.removal !== 'asked',
  );
  await forEachOf(whole, async (record) => {
    checkCarried(arena, record, { records, carriedBy });
    await checkReceipt(arena, record, records);
  });
  await checkNeighbour(arena, records);
}

function checkPosted({ history }: Arena, office: PostOffice, records: readonly DocumentRecord[]): void {
  const known = new Set(records.map(({ id }) => id));
  for (const { id, removal } of office.posted.values()) {
    if (removal === 'done' && known.has(id)) history.violate('what was deleted is gone', 'a message', id);
    if (removal === 'none' && !known.has(id))
      history.violate('an acknowledged document stays', 'a message', id);
  }
}

/** Returns the id of the message that was sent, which is the document itself or carries it as an attachment at any depth. */
function outermost({ id, attachmentOf }: DocumentRecord, records: readonly DocumentRecord[]): string {
  const parent = records.find((record) => record.id === attachmentOf?.documentId);
  return parent ? outermost(parent, records) : id;
}

const attachmentsOf = (id: string, records: readonly DocumentRecord[]): DocumentRecord[] =>
  records.filter(({ attachmentOf }) => attachmentOf?.documentId === id);

function checkAccess({ history }: Arena, record: DocumentRecord, records: readonly DocumentRecord[]): void {
  for (const attachment of attachmentsOf(record.id, records))
    if (listsOf(attachment) !== listsOf(record))
      history.violate('attachments have the access of their message', listsOf(attachment), attachment.id);
}

const listsOf = ({ readers, writers, admins }: DocumentRecord): string =>
  JSON.stringify([readers, writers, admins].map((list) => list.toSorted()));

interface Sent {
  readonly records: readonly DocumentRecord[];
  /** The attachments of each message, by its digest. */
  readonly carriedBy: ReadonlyMap<string, readonly Carried[]>;
}

/** There is one document of each attachment of the published content, and none of others. */
function checkCarried(
  { history }: Arena,
  { id, published }: DocumentRecord,
  { records, carriedBy }: Sent,
): void {
  const wanted = (published && carriedBy.get(published.sha256)) ?? [];
  const there = attachmentsOf(id, records);
  const digests = there.map((each) => each.published?.sha256 ?? 'unpublished').toSorted();
  if (
    digests.join() ===
    wanted
      .map(({ sha256 }) => sha256)
      .toSorted()
      .join()
  )
    return;
  const told = there.map(({ metadata, status }) => `${JSON.stringify(metadata)} ${status}`).join();
  const names = wanted.map(({ name }) => name).join();
  history.violate('a message has the attachments of its content', `${told} of ${names}`, id);
}

function withInner({ sha256, carried }: Message | Carried): [string, readonly Carried[]][] {
  return [[sha256, carried], ...carried.flatMap(withInner)];
}

/** Repeats changes of access that failed. */
async function repeatChanges(arena: Arena, office: PostOffice): Promise<void> {
  await forEachOf([...office.posted.values()], async ({ id, openAccess }, at) => {
    if (openAccess === 0) return;
    const path = `/documents/${id}`;
    const json = accessFor(at % 2 === 0);
    await askCalmly(arena, POSTMASTER, { method: 'PATCH', path, json, api: at });
  });
}

/** Returns the records of all messages and attachments, once nothing is left to be done for them. */
async function settledRecords(arena: Arena, redis: Redis): Promise<DocumentRecord[]> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    await settleAll(arena);
    const records = (await readAllRecords(redis)).filter(isOfMail);
    const open = records.filter((record) => hasAttachmentWork(record) || record.accessChange);
    if (open.length === 0) return records;
    if (performance.now() > end) {
      for (const { id } of open) arena.history.violate('everything becomes final', 'attachments', id);
      return records;
    }
    await sleep(250);
  }
}

/** Checks that a reader of some of them finds these, and nothing of the others. */
async function checkNeighbour(arena: Arena, records: readonly DocumentRecord[]): Promise<void> {
  const listed = (await listAll(arena, NEIGHBOUR)).toSorted();
  const readable = records.filter(({ readers }) => readers.includes(NEIGHBOUR)).map(({ id }) => id);
  if (listed.join() !== readable.toSorted().join())
    arena.history.violate(
      'a list has all that its caller may read, once',
      `${NEIGHBOUR}: ${String(listed.length)} of ${String(readable.length)} messages and attachments`,
    );
}

const receipt = z.object({
  attachments: z.array(z.object({ document_id: z.string().nullable(), reason: z.string().nullable() })),
});

async function checkReceipt(
  arena: Arena,
  { id, published }: DocumentRecord,
  records: readonly DocumentRecord[],
): Promise<void> {
  if (!published) return;
  const path = `/documents/${id}/extraction`;
  const { status, json } = await askCalmly(arena, POSTMASTER, { method: 'GET', path, api: 0 });
  const named = receipt.safeParse(json).data?.attachments ?? [];
  const said = named.map((each) => each.document_id);
  const there = records.filter(({ attachmentOf }) => attachmentOf?.documentId === id);
  if (
    status !== 200 ||
    said.toSorted().join() !==
      there
        .map((each) => each.id)
        .toSorted()
        .join()
  )
    arena.history.violate(
      'the extraction names the documents of attachments',
      `${String(status)}: ${JSON.stringify(named)} of ${String(there.length)}`,
      id,
    );
}

/** Deletes all messages; their attachments have to go with them. */
export async function removeMessages(arena: Arena, redis: Redis): Promise<void> {
  const records = (await readAllRecords(redis)).filter(isOfMail);
  const messages = records.filter(({ attachmentOf }) => !attachmentOf);
  await forEachOf(messages, async ({ id }, at) => {
    await askCalmly(arena, POSTMASTER, { method: 'DELETE', path: `/documents/${id}`, api: at });
  });
}
