import { randomUUID } from 'node:crypto';
import { ErrorReply } from 'redis';
import { openStorage } from '../../shared/create-storage.js';
import { createLogger } from '../../shared/observability/logger.js';
import type { ObjectStorage } from '../../shared/ports.js';
import { keys } from '../../shared/redis/keys.js';
import { loadSettings, type Environment } from '../../shared/settings/load.js';
import { reachRedis } from '../redis/reach-own-data.js';
import { UserError } from '../user-messages.js';
import { connect, type Client } from './connect.js';
import { openVerified, readAll } from './hashed.js';
import { readKeyPart } from './key-parts.js';
import type { KeyRecord } from './key-records.js';
import { placeOfSource, sourceSchema, type Manifest, type Part } from './manifest.js';
import { findManifest, noBackup, openPlace } from './open-place.js';
import { prepareTarget, withTargetSettings } from './prepare-target.js';

const SOURCES_AT_ONCE = 4;

/**
 * Puts a backup into the Redis and the object storage of the settings, which hold no documents. Sources come first, and the data
 * in Redis counts only when all of it is there, so that a restore which was interrupted can be run again.
 * @returns a sentence for the operator
 * @throws UserError when the backup is damaged, or when there is data already
 */
export async function restore(
  place: string,
  { check, signal }: { readonly check?: true; readonly signal?: AbortSignal },
  env: Environment,
): Promise<string> {
  const settings = loadSettings(env, []);
  const logger = createLogger({ level: 'warn', process: 'restore' });
  const from = await openPlace(place, settings, { logger, isNew: false });
  const manifest = await findManifest(from);
  if (!manifest) throw noBackup(place);
  const sources = await readSourceList(from, manifest);
  const largest = await readAllKeys(from, manifest);
  if (check) {
    await eachSource(sources, async (source) => {
      for await (const _ of openSource(from, source));
    });
    return `${told(manifest)} can be restored from ${place}: each part has the bytes that were written.`;
  }
  const { url, stop } = await reachRedis(settings, env);
  try {
    await write({
      url,
      from,
      to: await openStorage(settings, logger),
      manifest,
      sources,
      place,
      largest,
      signal,
    });
  } finally {
    await stop();
  }
  return `${told(manifest)} are restored from ${place}.`;
}

/** Reads all keys, so that nothing is changed for a damaged backup. @returns the bytes of the largest value */
async function readAllKeys(from: ObjectStorage, manifest: Manifest): Promise<number> {
  let largest = 0;
  for (const part of manifest.keys)
    for (const { value } of await readKeyPart(from, part)) largest = Math.max(largest, value?.length ?? 0);
  return largest;
}

const told = ({ documents, moment }: Manifest): string =>
  `${String(documents)} documents, as they were at ${moment},`;

interface Writing {
  readonly url: string;
  readonly from: ObjectStorage;
  readonly to: ObjectStorage;
  readonly manifest: Manifest;
  readonly sources: readonly Part[];
  readonly place: string;
  /** Bytes of the largest value. */
  readonly largest: number;
  /** Ends the restore between two values or sources, so that the settings of Redis are put back. */
  readonly signal: AbortSignal | undefined;
}

async function write({ url, from, to, manifest, sources, place, largest, signal }: Writing): Promise<void> {
  const client = await connect(url);
  try {
    await withTargetSettings(client, largest, async () => {
      await prepareTarget(client, place);
      await eachSource(sources, (source) => {
        signal?.throwIfAborted();
        return to.put(source.name, openSource(from, source));
      });
      for (const part of manifest.keys) {
        signal?.throwIfAborted();
        await restoreKeys(client, await readKeyPart(from, part), manifest);
      }
      await open(client);
    });
  } finally {
    client.destroy();
  }
}

/**
 * Makes the data count. Mirrors that have seen other data of this Redis start over by the new epoch. It is another
 * installation from now on: the first may live on, and keeps the states that models have read for its caches.
 */
async function open(client: Client): Promise<void> {
  await client.multi().set(keys.epoch, randomUUID()).del([keys.installation, keys.restoring]).exec();
}

async function readSourceList(from: ObjectStorage, { sources }: Manifest): Promise<readonly Part[]> {
  const text = (await readAll(openVerified(from, sources.name, sources))).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map(parseSource);
}

function parseSource(line: string): Part {
  try {
    return sourceSchema.parse(JSON.parse(line));
  } catch (error) {
    throw new UserError(`The list of sources of the backup cannot be read: ${line.slice(0, 200)}`, {
      cause: error,
    });
  }
}

const openSource = (from: ObjectStorage, source: Part): AsyncGenerator<Uint8Array> =>
  openVerified(from, placeOfSource(source.name), source);

async function eachSource(sources: readonly Part[], work: (source: Part) => Promise<void>): Promise<void> {
  const queue = sources.values();
  await Promise.all(
    Array.from({ length: SOURCES_AT_ONCE }, async () => {
      for (const source of queue) await work(source);
    }),
  );
}

const KEYS_AT_ONCE = 500;

/** Writes keys in their order. A later one overrides an earlier one. */
async function restoreKeys(
  client: Client,
  records: Iterable<KeyRecord>,
  manifest: Pick<Manifest, 'redis'>,
): Promise<void> {
  let waiting: Promise<unknown>[] = [];
  const finish = async (): Promise<void> => {
    const sent = waiting;
    waiting = [];
    try {
      await Promise.all(sent);
    } catch (error) {
      throw explained(error, manifest);
    }
  };
  for (const record of records) {
    waiting.push(send(client, record));
    if (waiting.length >= KEYS_AT_ONCE) await finish();
  }
  await finish();
}

/** The connection keeps the order in which commands are sent. */
const send = (client: Client, { key, value, expiresAt }: KeyRecord): Promise<unknown> =>
  value === null
    ? client.unlink(key)
    : client.restore(key, expiresAt ?? 0, value, { REPLACE: true, ABSTTL: expiresAt !== null });

function explained(error: unknown, { redis }: Pick<Manifest, 'redis'>): unknown {
  if (!(error instanceof ErrorReply)) return error;
  if (/payload version or checksum/i.test(error.message))
    return new UserError(
      `This Redis is older than the one of the backup (${redis}), whose values it cannot read.`,
    );
  if (/bad data format/i.test(error.message))
    return new UserError('A value of the backup is none that Redis has written. Restore nothing of it.');
  if (error.message.startsWith('OOM'))
    return new UserError('This Redis is full (maxmemory). Give it more memory, and restore again.');
  return error;
}
