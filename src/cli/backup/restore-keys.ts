import { ErrorReply } from 'redis';
import { UserError } from '../user-messages.js';
import type { Client } from './connect.js';
import type { KeyRecord } from './key-records.js';
import type { Manifest } from './manifest.js';

const KEYS_AT_ONCE = 500;

/** Writes keys in their order. A later one overrides an earlier one. */
export async function restoreKeys(
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
