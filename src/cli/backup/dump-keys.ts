import { z } from 'zod';
import { jsonOrNull } from '../../shared/json-values.js';
import { KEY_PREFIX, keys } from '../../shared/redis/keys.js';
import { isShortSource } from '../../shared/storage/sources.js';
import { inBytes, type Client } from './connect.js';
import type { KeyRecord } from './key-records.js';

const KEYS_AT_ONCE = 500;
const stateSchema = z.object({ storageKey: z.string() }).nullable();

/** The data that a backup holds of a key. */
export interface Dumped extends KeyRecord {
  /** The sources in the object storage that the record of a document refers to; null for other keys. */
  readonly sources: readonly string[] | null;
}

/** Goes through all keys of the service, some at once. A key that is written meanwhile may be there twice, or not at all. */
export async function* allKeys(client: Client): AsyncIterable<readonly string[]> {
  for await (const found of client.scanIterator({ MATCH: `${KEY_PREFIX}*`, COUNT: KEYS_AT_ONCE }))
    if (found.length > 0) yield found;
}

/** Reads keys as they are, each for itself. */
export async function* dumpKeys(client: Client, names: Iterable<string>): AsyncIterable<Dumped[]> {
  const all = [...names];
  for (let from = 0; from < all.length; from += KEYS_AT_ONCE)
    yield await Promise.all(all.slice(from, from + KEYS_AT_ONCE).map((key) => dumpKey(client, key)));
}

/** The types of the client do not say that its mapping makes bytes of this reply. */
async function readDump(client: Client, key: string): Promise<Buffer | null> {
  const value: unknown = await inBytes(client).dump(key);
  if (value !== null && !Buffer.isBuffer(value)) throw new TypeError('Redis dumps a key as bytes');
  return value;
}

async function dumpKey(client: Client, key: string): Promise<Dumped> {
  const isDocument = key.startsWith(keys.documentPrefix);
  const [expiresAt, value, states] = await Promise.all([
    // The clock of Redis counts, which may differ from this machine's.
    client.pExpireTime(key),
    readDump(client, key),
    isDocument ? client.hmGet(key, ['published', 'pending']) : null,
  ]);
  return {
    key,
    // A time of never is negative there.
    expiresAt: Math.max(0, expiresAt),
    value,
    sources: states?.flatMap(sourceOf) ?? null,
  };
}

/** A record that cannot be read refers to no source that could be known. */
function sourceOf(state: string | null): readonly string[] {
  const parsed = state === null ? null : stateSchema.safeParse(jsonOrNull(state));
  const key = parsed?.data?.storageKey;
  return key === undefined || isShortSource(key) ? [] : [key];
}
