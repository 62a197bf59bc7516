import { ErrorReply } from 'redis';
import { say, UserError } from '../user-messages.js';
import type { Client } from './connect.js';

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
