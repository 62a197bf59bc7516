import { UserError } from '../user-messages.js';
import type { ChangedKeys } from './changed-keys.js';
import type { Client } from './connect.js';
import { dumpKeys, type Dumped } from './dump-keys.js';

/** The number of keys that are read in some ten milliseconds. */
const FEW_KEYS = 500;
/** Rounds in which fewer and fewer keys are left. Where they do not become few, the pause has to be long enough for all of them. */
const MAX_ROUNDS = 30;
/** The longest times for which writers wait, from attempt to attempt. Reads go on. */
const PAUSES_MILLISECONDS = [250, 500, 1_000, 2_000, 4_000];
/** The share of a pause in which reads are safe: later, a writer whose wait was over may have written. */
const SAFE_SHARE = 0.8;

interface Reading {
  readonly client: Client;
  readonly changes: ChangedKeys;
  /** Keeps the readings. A later reading of a key overrides an earlier one. */
  readonly keep: (dumped: readonly Dumped[]) => Promise<void>;
  /** Called between two rounds, for slow work with the readings. */
  readonly between: () => Promise<void>;
}

/** When the data was as it is kept, by the clock of Redis, and for how many ms writers waited for that. */
export interface Moment {
  readonly time: Date;
  readonly waited: number;
}

/**
 * Reads changed keys, again and again, until all kept data is as it was at one moment. Writers are held up for the last few
 * keys only.
 */
export async function reachMoment(reading: Reading): Promise<Moment> {
  let changed = await settle(reading);
  for (const milliseconds of PAUSES_MILLISECONDS) {
    const last = await readInPause(reading, changed, milliseconds);
    await reading.keep(last.dumped);
    if (last.moment !== null) return last.moment;
    changed = await settle(reading);
  }
  throw new UserError(
    `So much is written that ${String(PAUSES_MILLISECONDS.at(-1))} ms are too short to read the rest. Make the backup at a quieter time.`,
  );
}

/** Reads changed keys until few are left, which are answered. */
async function settle({ client, changes, keep, between }: Reading): Promise<ReadonlySet<string>> {
  for (let round = 1; ; round += 1) {
    const changed = await changes.take();
    if (changed.size <= FEW_KEYS || round > MAX_ROUNDS) return changed;
    for await (const dumped of dumpKeys(client, changed)) await keep(dumped);
    await between();
  }
}

async function readInPause(
  { client, changes }: Reading,
  before: ReadonlySet<string>,
  milliseconds: number,
): Promise<{ readonly dumped: readonly Dumped[]; readonly moment: Moment | null }> {
  const start = performance.now();
  await pause(client, milliseconds);
  try {
    const names = new Set([...before, ...(await changes.take())]);
    const dumped: Dumped[] = [];
    for await (const some of dumpKeys(client, names)) dumped.push(...some);
    const time = new Date(await timeOf(client));
    const waited = performance.now() - start;
    return { dumped, moment: waited < SAFE_SHARE * milliseconds ? { time, waited } : null };
  } finally {
    await client.sendCommand(['CLIENT', 'UNPAUSE']);
  }
}

async function pause(client: Client, milliseconds: number): Promise<void> {
  try {
    await client.sendCommand(['CLIENT', 'PAUSE', String(milliseconds), 'WRITE']);
  } catch (error) {
    throw new UserError(
      'This Redis lets nobody hold up writes (CLIENT PAUSE), without which what is copied is of no one moment.',
      { cause: error },
    );
  }
}

async function timeOf(client: Client): Promise<number> {
  const [seconds, microseconds] = await client.sendCommand<[string, string]>(['TIME']);
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}
