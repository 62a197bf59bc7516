import { setTimeout as sleep } from 'node:timers/promises';
import { KEY_PREFIX, keys } from '../../shared/redis/keys.js';
import { QUEUES } from '../../shared/queues/lanes.js';
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
