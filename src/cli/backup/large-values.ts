import { ErrorReply } from 'redis';
import { say, UserError } from '../user-messages.js';
import type { Client } from './connect.js';

/** What Redis takes of one value, and of one command, where it does not say: its defaults. */
const LIMITS = { 'proto-max-bulk-len': 512 * 2 ** 20, 'client-query-buffer-limit': 1024 * 2 ** 20 };
/** For what a command has beside its value. */
const MARGIN_BYTES = 2 ** 20;

/**
 * Lets a Redis take values of so many bytes. It writes larger ones (DUMP) than it reads (RESTORE), and ends the connection of
 * whoever sends one.
 * @returns puts back what was changed
 * @throws UserError when it cannot take them
 */
export async function allowLargeValues(client: Client, bytes: number): Promise<() => Promise<void>> {
  const needed = bytes + MARGIN_BYTES;
  const known = await client.configGet(Object.keys(LIMITS)).catch(unlessRefused({}));
  const narrow = Object.entries(LIMITS)
    .map(([name, standard]) => [name, Number((known as Record<string, string>)[name] ?? standard)] as const)
    .filter(([, limit]) => limit < needed);
  if (narrow.length === 0) return () => Promise.resolve();
  const names = narrow.map(([name]) => name).join(' and ');
  const wide = Object.fromEntries(narrow.map(([name]) => [name, String(needed)]));
  const isSet = await client.configSet(wide).catch(unlessRefused(null));
  if (isSet === null)
    throw new UserError(
      `A value of the backup has ${String(bytes)} bytes, and this Redis takes no such value. Set ${names} to ${String(needed)} there, and restore again.`,
    );
  say(`A value has ${String(bytes)} bytes. Redis takes that much until the restore ends (${names}).`);
  const before = Object.fromEntries(narrow.map(([name, limit]) => [name, String(limit)]));
  return async () => {
    await client.configSet(before).catch(() => {
      say(`They could not be set back. They were: ${JSON.stringify(before)}`);
    });
  };
}

/** Redis in the hands of others often lets nobody change its configuration. */
const unlessRefused =
  <Other>(other: Other) =>
  (error: unknown): Other => {
    if (error instanceof ErrorReply) return other;
    throw error;
  };
