import { setTimeout as sleep } from 'node:timers/promises';
import { ErrorReply } from 'redis';
import { QUEUES } from '../../shared/queues/lanes.js';
import { KEY_PREFIX, keys } from '../../shared/redis/keys.js';
import { say, UserError } from '../user-messages.js';
import type { Client } from './connect.js';
import { allKeys } from './dump-keys.js';

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
export async function prepareTarget(client: Client, place: string): Promise<void> {
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
      const kind = key.slice(KEY_PREFIX.length).split(':', 1)[0] ?? '';
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
export async function withTargetSettings(
  client: Client,
  largest: number,
  work: () => Promise<void>,
): Promise<void> {
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
  const known: Values = await client.configGet(CHECKS).catch(unlessRefused({}));
  const value = known[CHECKS];
  if (value === 'yes') return;
  const isSet = value !== undefined && (await client.configSet(CHECKS, 'yes').catch(unlessRefused(null)));
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
  const known: Values = await client.configGet(Object.keys(LIMITS)).catch(unlessRefused({}));
  const narrow = Object.entries(LIMITS)
    .map(([name, standard]) => [name, Number(known[name] ?? standard)] as const)
    .filter(([, limit]) => limit < needed);
  if (narrow.length === 0) return;
  const names = narrow.map(([name]) => name).join(' and ');
  const wide = Object.fromEntries(narrow.map(([name]) => [name, String(needed)]));
  const isSet = await client.configSet(wide).catch(unlessRefused(null));
  if (isSet === null)
    throw new UserError(
      `A value of the backup has ${String(bytes)} bytes, and this Redis takes no such value. Set ${names} to ${String(needed)} there, and restore again.`,
    );
  for (const [name, limit] of narrow) before[name] = String(limit);
  say(`A value has ${String(bytes)} bytes. Redis takes that much until the restore ends (${names}).`);
}

/** Redis in the hands of others often lets nobody change its configuration. */
const unlessRefused =
  <Other>(other: Other) =>
  (error: unknown): Other => {
    if (error instanceof ErrorReply) return other;
    throw error;
  };
