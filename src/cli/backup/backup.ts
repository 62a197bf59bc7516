import { randomUUID } from 'node:crypto';
import { openStorage } from '../../shared/create-storage.js';
import { createLogger } from '../../shared/observability/logger.js';
import type { ObjectStorage } from '../../shared/ports.js';
import { readDataSet } from '../../shared/data-set/data-set.js';
import { loadSettings, type Environment, type Settings } from '../../shared/settings/load.js';
import { audited } from '../audited.js';
import { reachRedis } from '../redis/reach-own-data.js';
import { say, UserError } from '../user-messages.js';
import { followChanges } from './changed-keys.js';
import { connect, type Client } from './connect.js';
import { createSourceCopies } from './copy-sources.js';
import { allKeys, dumpKeys, type Dumped } from './dump-keys.js';
import { once, putHashed } from './hashed.js';
import { createKeyParts } from './key-parts.js';
import { FORMAT, placesOf, type Manifest, type Part } from './manifest.js';
import { findManifest, openPlace, writeManifest } from './open-place.js';
import { reachMoment } from './reach-moment.js';

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
  const { url, stop } = await reachRedis(settings, env);
  try {
    const manifest = await copyAll({ url, from: await openStorage(settings, logger), to });
    await writeManifest(to, manifest);
    return describe(manifest, place);
  } finally {
    await stop();
  }
}

interface Copying {
  readonly url: string;
  readonly from: ObjectStorage;
  readonly to: ObjectStorage;
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
