import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ErrorReply } from 'redis';
import { at } from '../../shared/at.js';
import { openStorage } from '../../shared/create-storage.js';
import { createLogger } from '../../shared/observability/logger.js';
import type { ObjectStorage } from '../../shared/ports.js';
import { QUEUES } from '../../shared/queues/lanes.js';
import { keys, KEY_PREFIX } from '../../shared/redis/keys.js';
import { loadSettings, type Environment } from '../../shared/settings/load.js';
import { audited } from '../audited.js';
import { reachOwnData } from '../redis/reach-own-data.js';
import { UserError, say } from '../user-messages.js';
import { connect, type Client } from './connect.js';
import { allKeys } from './dump-keys.js';
import { openVerified, readAll } from './hashed.js';
import { readKeyPart } from './key-parts.js';
import type { KeyRecord } from './key-records.js';
import { findManifest, placeOfSource, sourceSchema, type Manifest, type Part } from './manifest.js';
import { noBackup, openPlace } from './open-place.js';

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
  await audited('command.restore', settings, async () => {
    const { url, stop } = await reachOwnData(settings, env);
    try {
      const to = await openStorage(settings, logger);
      await write({ url, from, to, manifest, sources, place, largest, signal });
    } finally {
      await stop();
    }
  });
  return `${told(manifest)} are restored from ${place}.`;
}

/** Reads all keys, so that nothing is changed for a damaged backup. @returns the bytes of the largest value */
async function readAllKeys(from: ObjectStorage, manifest: Manifest): Promise<number> {
  let largest = 0;
  for (const part of manifest.keys)
    for (const { value } of await readKeyPart(from, part))
      if (value) largest = Math.max(largest, value.length);
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
    : client.restore(key, expiresAt, value, { REPLACE: true, ABSTTL: true });

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

/** Processes that have stopped are heard of for so long. */
const PATIENCE_MILLISECONDS = 60_000;
const AGAIN_MILLISECONDS = 1_000;
const NOTE_MILLISECONDS = 2 * PATIENCE_MILLISECONDS;

/** Kinds of keys that hold content or counts of somebody. The service makes all others anew. */
const KINDS = {
  document: 'documents',
  changes: 'documents',
  audience: 'documents',
  sharing: 'lists of who shares with whom',
  usage: 'usage',
  cache: 'named caches',
} as const;

/**
 * Makes sure that a Redis holds nobody's data and that nothing uses it, empties it of all else that is Quire's, and notes that a
 * backup is being restored into it.
 */
async function prepareTarget(client: Client, place: string): Promise<void> {
  // A note that goes by itself is of a restore that has emptied nothing yet.
  const isOurs = (await client.pTTL(keys.restoring)) === -1;
  if (!isOurs) {
    await refuseData(client);
    // From now on no process starts. A process that began before is noticed while this waits, and may write until then.
    await client.set(keys.restoring, place, { expiration: { type: 'PX', value: NOTE_MILLISECONDS } });
  }
  await untilUnused(client);
  if (!isOurs) await refuseData(client);
  await client.set(keys.restoring, place);
  for await (const found of allKeys(client)) {
    const others = found.filter((key) => key !== keys.restoring);
    if (others.length > 0) await client.unlink(others);
  }
}

/** @throws UserError when there is anything of these kinds */
async function refuseData(client: Client): Promise<void> {
  if ((await client.exists(keys.changes)) === 1) throw holds('changes', keys.changes);
  for await (const found of allKeys(client)) {
    for (const key of found) {
      const kind = at(key.slice(KEY_PREFIX.length).split(':', 1), 0);
      if (isKind(kind)) throw holds(kind, key);
    }
  }
}

const holds = (kind: keyof typeof KINDS, key: string): UserError =>
  new UserError(
    `This Redis holds ${KINDS[kind]} (${JSON.stringify(key)}). A backup is restored into one without data of Quire.`,
  );

const isKind = (kind: string): kind is keyof typeof KINDS => Object.hasOwn(KINDS, kind);

async function untilUnused(client: Client): Promise<void> {
  const signs = [keys.storageMarkerAnnounced, ...QUEUES.map(keys.worker)];
  const end = performance.now() + PATIENCE_MILLISECONDS;
  for (let isTold = false; (await client.exists(signs)) > 0; isTold = true) {
    if (performance.now() > end)
      throw new UserError('API or workers use this Redis. Stop them, and restore again.');
    if (!isTold)
      say('API or workers use this Redis, or did until just now. Waiting until they have stopped.');
    await sleep(AGAIN_MILLISECONDS);
  }
}

/** The greatest size of one value, and of one command, where Redis does not tell its limits: its defaults. */
const LIMITS = { 'proto-max-bulk-len': 512 * 2 ** 20, 'client-query-buffer-limit': 1024 * 2 ** 20 };
/** The bytes for the rest of a command beside its value. */
const MARGIN_BYTES = 2 ** 20;

/** Makes Redis check values, whose writer may want it to read or write where it must not. */
const CHECKS = 'sanitize-dump-payload';

/** Settings of Redis by their names. */
type Values = Readonly<Record<string, string>>;

/**
 * Has a Redis check all values while a backup is restored into it, and take values of up to `largest` bytes.
 * @throws UserError when it cannot take them
 */
async function withTargetSettings(client: Client, largest: number, work: () => Promise<void>): Promise<void> {
  const before: Record<string, string> = {};
  try {
    await allowLargeValues(client, largest, before);
    await checkValues(client, before);
    await work();
  } finally {
    await setBack(client, before);
  }
}

async function setBack(client: Client, before: Values): Promise<void> {
  if (Object.keys(before).length === 0) return;
  await client.configSet({ ...before }).catch(() => {
    say(`Settings of Redis could not be set back. They were: ${JSON.stringify(before)}`);
  });
}

/** Turns the check of values on, and notes the former setting in `before`. */
async function checkValues(client: Client, before: Record<string, string>): Promise<void> {
  const known: Values = await client.configGet(CHECKS).catch(onRefusal({}));
  const value = known[CHECKS];
  if (value === 'yes') return;
  const isSet = value !== undefined && (await client.configSet(CHECKS, 'yes').catch(onRefusal(null)));
  if (isSet) before[CHECKS] = value;
  else
    say(`Redis does not let values be checked (${CHECKS}). Restore nothing here that others have written.`);
}

/**
 * Lets a Redis take values of this many bytes, and notes the former settings in `before`. Redis writes larger values (DUMP)
 * than it reads (RESTORE), and ends the connection of a client that sends one.
 * @throws UserError when it cannot take them
 */
async function allowLargeValues(
  client: Client,
  bytes: number,
  before: Record<string, string>,
): Promise<void> {
  const needed = bytes + MARGIN_BYTES;
  const known: Values = await client.configGet(Object.keys(LIMITS)).catch(onRefusal({}));
  const narrow = Object.entries(LIMITS)
    .map(([name, standard]) => [name, Number(known[name] ?? standard)] as const)
    .filter(([, limit]) => limit < needed);
  if (narrow.length === 0) return;
  const names = narrow.map(([name]) => name).join(' and ');
  const wide = Object.fromEntries(narrow.map(([name]) => [name, String(needed)]));
  const isSet = await client.configSet(wide).catch(onRefusal(null));
  if (isSet === null)
    throw new UserError(
      `A value of the backup has ${String(bytes)} bytes, and this Redis takes no such value. Set ${names} to ${String(needed)} there, and restore again.`,
    );
  for (const [name, limit] of narrow) before[name] = String(limit);
  say(`A value has ${String(bytes)} bytes. Redis takes that much until the restore ends (${names}).`);
}

/** Redis in the hands of others often lets nobody change its configuration. */
const onRefusal =
  <Other>(other: Other) =>
  (error: unknown): Other => {
    if (error instanceof ErrorReply) return other;
    throw error;
  };
