import { randomUUID } from 'node:crypto';
import { MissingObjectError, type ObjectStorage } from '../ports.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { declareScript, SERVER_TIME } from '../redis/script.js';

const NAME = /^[A-Za-z0-9._-]{1,128}$/;

/** Tells whether `key` is a list of names separated by `/` that no object storage could misread. */
export function isObjectKey(key: string): boolean {
  const names = key.split('/');
  return key.length <= 512 && names.every((part) => NAME.test(part) && part !== '.' && part !== '..');
}

/** @throws Error unless `isObjectKey` */
export function assertObjectKey(key: string): void {
  if (!isObjectKey(key)) throw new Error('invalid object key');
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/**
 * Makes the key for the source bytes of a version. It names the document, so that a process that is
 * about to remove the object can ask for the record. The folder names the hour, so that documents that
 * come together share the cost of making its entries durable.
 */
export function sourceKey({ documentId, version }: { documentId: string; version: number }): string {
  const hour = new Date().toISOString().slice(0, 13);
  return `${hour}/${documentId}-${String(version)}-${randomUUID()}`;
}

/** The document whose source has this key; null when the key is not one of a source. */
export function documentOfSource(key: string): string | null {
  const name = /^\d{4}-[^/]*\/(.*)$/.exec(key)?.[1];
  return (name === undefined ? undefined : UUID.exec(name)?.[0]) ?? null;
}

export type DraftObjects = ReturnType<typeof createDraftObjects>;

/** The time is the server's own, since the clocks of several hosts may differ. */
const announceScript = declareScript({ keys: { drafts: 'key' }, args: { object: 'text' } }).lua<number>(`
${SERVER_TIME}
return redis.call('ZADD', drafts, string.format('%d', serverTime()), object)
`);

/**
 * The source objects whose bytes are being stored and that no record refers to yet. The commit of the record
 * ends this. An object that stays here for long was left by a crash.
 */
export function createDraftObjects(redis: Redis) {
  return {
    announce: async (storageKey: string): Promise<void> => {
      await announceScript.run(redis, { keys: { drafts: keys.draftObjects }, args: { object: storageKey } });
    },
    forget: async (storageKey: string): Promise<void> => {
      await redis.zRem(keys.draftObjects, storageKey);
    },
  };
}

/**
 * A text of at most this many bytes of UTF-8 is short: its source is kept in the record of its document, and it is ingested
 * in one job where embedding needs no provider. It takes a few milliseconds to ingest, and some tens at worst.
 */
export const MAX_SHORT_BYTES = 8_192;

/** The bytes of a short text, which are written into the record in the step that makes it refer to them. */
export interface ShortSource {
  readonly storageKey: string;
  readonly bytes: Buffer;
}

const PREFIX = 'record/';
const KEY = /^record\/([0-9a-f-]{36})-\d+-[0-9a-f-]{36}$/;

/**
 * Makes the storage key of a short source. It is also the name of the field that holds the bytes in the record's hash, and
 * random, so that no other content ever has the same.
 */
export const shortSourceKey = ({ documentId, version }: { documentId: string; version: number }): string =>
  `${PREFIX}${documentId}-${String(version)}-${randomUUID()}`;

export const isShortSource = (storageKey: string): boolean => storageKey.startsWith(PREFIX);

/**
 * Wraps a storage so that it also opens the short sources, which are in Redis. This is the only place that knows that there
 * are two kinds. Short sources come and go with their records, so that removing one does nothing.
 */
export function withShortSources(storage: ObjectStorage, redis: Pick<Redis, 'hGet'>): ObjectStorage {
  return {
    ...storage,
    open: async (key) => (isShortSource(key) ? openShort(redis, key) : storage.open(key)),
    remove: async (key) => {
      if (!isShortSource(key)) await storage.remove(key);
    },
  };
}

async function openShort(redis: Pick<Redis, 'hGet'>, key: string) {
  const documentId = KEY.exec(key)?.[1];
  const text = documentId === undefined ? null : await redis.hGet(keys.document(documentId), key);
  if (text === null) throw new MissingObjectError(key);
  const bytes = Buffer.from(text, 'utf8');
  return { size: bytes.length, [Symbol.asyncIterator]: () => once(bytes) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
