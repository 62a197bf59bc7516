import { randomUUID } from 'node:crypto';
import { openStorage } from '../../shared/create-storage.js';
import { readDataSet } from '../../shared/data-set/data-set.js';
import { loadSettings, type Environment, type Settings } from '../../shared/settings/load.js';
import { audited } from '../audited.js';
import { createLogger } from '../../shared/observability/logger.js';
import { MissingObjectError, type ObjectStorage } from '../../shared/ports.js';
import { reachOwnData } from '../redis/reach-own-data.js';
import { say, UserError } from '../user-messages.js';
import { connect, type Client } from './connect.js';
import { allKeys, dumpKeys, type Dumped } from './dump-keys.js';
import { once, putHashed } from './hashed.js';
import { createKeyParts } from './key-parts.js';
import {
  findManifest,
  FORMAT,
  placesOf,
  placeOfSource,
  writeManifest,
  type Manifest,
  type Part,
} from './manifest.js';
import { openPlace } from './open-place.js';

/**
 * Copies the data of a service, as it was at one moment, into a folder or a bucket. The service goes on meanwhile.
 * @param place a folder, or `s3://bucket/prefix`
 * @returns a sentence for the operator
 */
export async function backup(place: string, env: Environment): Promise<string> {
  // Files written from here on are for the user of this process alone, also in a folder that others may read.
  process.umask(0o077);
  const settings = loadSettings(env, []);
  return audited('command.backup', settings, () => copyTo(place, settings, env));
}

async function copyTo(place: string, settings: Settings, env: Environment): Promise<string> {
  const logger = createLogger({ level: 'warn', process: 'backup' });
  const to = await openPlace(place, settings, { logger, isNew: true });
  if (await findManifest(to))
    throw new UserError(`There is a backup in ${place} already. Name another place.`);
  const { url, stop } = await reachOwnData(settings, env);
  try {
    const manifest = await copyAll({ url, from: await openStorage(settings, logger), to });
    await writeManifest(to, manifest);
    return describe(manifest, place);
  } finally {
    await stop();
  }
}

interface Storages {
  readonly from: ObjectStorage;
  readonly to: ObjectStorage;
}

interface Copying extends Storages {
  readonly url: string;
}

async function copyAll({ url, from, to }: Copying): Promise<Manifest> {
  const listening = await connect(url, { tellsChanges: true });
  const client = await connect(url);
  try {
    const data = await readDataSet(client);
    if (!data) throw new UserError('This Redis holds no data of Quire.');
    const places = placesOf(randomUUID().slice(0, 8));
    const parts = createKeyParts(to, places);
    const copies = createSourceCopies({ from, to });
    const keep = async (dumped: readonly Dumped[]): Promise<void> => {
      for (const record of dumped) {
        await parts.add(record);
        if (record.sources) copies.note(record.key, record.value && record.sources);
      }
    };
    const changes = followChanges(listening);
    for await (const names of allKeys(client))
      for await (const some of dumpKeys(client, names)) await keep(some);
    await copies.copy();
    const moment = await reachMoment({ client, changes, keep, between: copies.copy });
    // Sources of deleted documents are kept for a while, so that the sources of that moment are still there.
    await copies.copy();
    const { documents, sources, missing } = copies.end();
    return {
      format: FORMAT,
      moment: moment.time.toISOString(),
      waited: Math.ceil(moment.waited),
      redis: await versionOf(client),
      documents,
      keys: [...(await parts.end())],
      sources: await writeSourceList(to, places.sourceList, sources),
      missing,
    };
  } finally {
    client.destroy();
    listening.destroy();
  }
}

async function writeSourceList(to: ObjectStorage, name: string, sources: readonly Part[]): Promise<Part> {
  const list = sources.map((source) => `${JSON.stringify(source)}\n`).join('');
  return { name, ...(await putHashed(to, name, once(Buffer.from(list)))) };
}

async function versionOf(client: Client): Promise<string> {
  return /^redis_version:(\S+)/m.exec(await client.info('server'))?.[1] ?? 'unknown';
}

function describe({ documents, moment, waited, missing }: Manifest, place: string): string {
  if (missing.length > 0)
    say(`The object storage has lost the sources of ${String(missing.length)} versions.`);
  return `${String(documents)} documents, as they were at ${moment}, are in ${place}. Who wrote waited for ${String(waited)} ms.`;
}

const SOURCES_AT_ONCE = 4;

/** Copies the sources that documents refer to from the object storage into the place of a backup. */
function createSourceCopies({ from, to }: Storages) {
  /** Key of a document's record → the sources that it refers to. */
  const ofDocument = new Map<string, readonly string[]>();
  const copied = new Map<string, Part>();
  const wanted = (): readonly string[] => [...new Set([...ofDocument.values()].flat())];
  return {
    /** Notes the sources of a record, in place of its former sources; null for a record that is gone. */
    note: (record: string, sources: readonly string[] | null): void => {
      ofDocument.delete(record);
      if (sources) ofDocument.set(record, sources);
    },
    /** Copies the sources that are not copied yet. */
    copy: async (): Promise<void> => {
      const queue = wanted()
        .filter((key) => !copied.has(key))
        .values();
      await Promise.all(
        Array.from({ length: SOURCES_AT_ONCE }, async () => {
          for (const key of queue) await copyOne(key, { from, to }, copied);
        }),
      );
    },
    /** Answers the existing sources of documents. Further copies stay, which another backup may need. */
    end: () => {
      const sources = wanted();
      const missing = sources.filter((key) => !copied.has(key));
      return {
        documents: ofDocument.size,
        sources: sources.flatMap((key) => copied.get(key) ?? []),
        missing,
      };
    },
  };
}

/** Leaves out a source that is not there: its document may have been deleted meanwhile. */
async function copyOne(key: string, { from, to }: Storages, copied: Map<string, Part>): Promise<void> {
  try {
    copied.set(key, { name: key, ...(await putHashed(to, placeOfSource(key), await from.open(key))) });
  } catch (error) {
    if (!(error instanceof MissingObjectError)) throw error;
  }
}

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
interface Moment {
  readonly time: Date;
  readonly waited: number;
}

/**
 * Reads changed keys, again and again, until all kept data is as it was at one moment. Writers are held up for the last few
 * keys only.
 */
async function reachMoment(reading: Reading): Promise<Moment> {
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

interface ChangedKeys {
  /** Answers all keys that were written before this call and after the last, and forgets them. */
  take(): Promise<Set<string>>;
}

/** Follows the keys that anybody writes. @param client a client that tells of changes, which is used for nothing else */
function followChanges(client: Client): ChangedKeys {
  let changed = new Set<string>();
  let isEmptied = false;
  client.on('invalidate', (key: Buffer | string | null) => {
    if (key === null) isEmptied = true;
    else changed.add(key.toString());
  });
  return {
    take: async () => {
      // Redis tells of a change at the end of a turn. The reply to the second question comes after that turn.
      await client.ping();
      await client.ping();
      if (isEmptied) throw new Error('Redis was emptied during the backup.');
      const taken = changed;
      changed = new Set();
      return taken;
    },
  };
}
