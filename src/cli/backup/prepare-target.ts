import { setTimeout as sleep } from 'node:timers/promises';
import { keys } from '../../shared/redis/keys.js';
import { QUEUES } from '../../shared/queues/lanes.js';
import { say, UserError } from '../user-messages.js';
import type { Client } from './connect.js';
import { allKeys } from './dump-keys.js';

/** Processes that have stopped are heard of for so long. */
const PATIENCE_MILLISECONDS = 60_000;
const AGAIN_MILLISECONDS = 1_000;
const NOTE_MILLISECONDS = 2 * PATIENCE_MILLISECONDS;

/**
 * Makes sure that a Redis holds no documents and that nothing uses it, empties it of all else that is Quire's, and notes that a
 * backup is being restored into it.
 */
export async function prepareTarget(client: Client, place: string): Promise<void> {
  const isOurs = (await client.exists(keys.restoring)) === 1;
  if (!isOurs && (await client.exists(keys.changes)) === 1)
    throw new UserError('This Redis holds documents. A backup is restored into one without.');
  // From now on no process starts; one that began before is heard of while this waits. If this ends, the note goes by itself.
  if (!isOurs)
    await client.set(keys.restoring, place, { expiration: { type: 'PX', value: NOTE_MILLISECONDS } });
  await untilUnused(client);
  await client.set(keys.restoring, place);
  for await (const found of allKeys(client)) {
    const others = found.filter((key) => key !== keys.restoring);
    if (others.length > 0) await client.unlink(others);
  }
}

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
