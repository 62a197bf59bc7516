import { randomUUID } from 'node:crypto';
import { MissingObjectError, type ObjectStorage } from '../ports.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';

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
