import { mkdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client, Reply, WireDocument } from '../../support/client.js';
import { startModels } from '../../support/models-process.js';
import { mountSmallDisk, unreadableFile } from '../../support/small-disk.js';
import { until } from '../../support/until.js';
import {
  observed,
  oneOf,
  statusOf,
  type Attack,
  type Observed,
  type Surroundings,
  type Target,
} from '../attack.js';
import { closeAll, holdUploads } from '../connections.js';
import { watchFigure } from '../watch-figure.js';

const MEGABYTE = 2 ** 20;
const MEGABYTES = { disk: 160, spare: 32, upload: 8, stalled: 4 };
/** Of what stays free, this may be written in the moment before the disk is looked at again. */
const LEAST_FREE = (MEGABYTES.spare / 2) * MEGABYTE;
const STALLED_UPLOADS = 6;
/** A disk counts as full after so many refusals in a row. */
const REFUSALS = 3;
const MAX_TRIES = 200;
const [FILLER, MODEST] = ['a filler of disks', 'a modest owner'];
const MODEST_DOCUMENTS = 4;
const TAKEN_AGAIN_SECONDS = 60;

const MODEL = 'chat.gguf';
/** A state of it takes 8 KB a token. */
const MODEL_OPTIONS = { kind: 'chat', dimension: 256, layers: 8 } as const;

/** A small disk for Redis, the objects, and the states of models. */
async function surround(): Promise<Surroundings | null> {
  const disk = mountSmallDisk(MEGABYTES.disk);
  if (!disk) return null;
  const [redis, data] = [join(disk.directory, 'redis'), join(disk.directory, 'data')];
  for (const folder of [redis, data]) mkdirSync(folder);
  const room = {
    QUIRE_DISK_MIN_FREE_MEGABYTES: String(MEGABYTES.spare),
    QUIRE_REDIS_DIRECTORY: redis,
  };
  const models = await startModels({ ...room, QUIRE_DATA_DIR: data });
  await models.write(MODEL, MODEL_OPTIONS);
  return {
    env: { ...room, ...models.env, QUIRE_CHUNK_SIZE: '512' },
    redis: ['--dir', redis],
    dataDirectory: data,
    stop: async () => {
      await models.stop();
      disk.unmount();
    },
  };
}

/** A text of about so many characters. */
const textOf = (number: number, length: number) =>
  `Text ${String(number)}. ${'The cupboard is full of plates. '.repeat(length / 32)}`;

async function ingest(client: Client, text: string): Promise<void> {
  const { status } = await client.ingestText(text, {}, { prefer: 'wait=100' });
  if (status !== 200) throw new Error(`a text that is there before: ${String(status)}`);
}

const documentsOf = async (client: Client) =>
  (await client.get<WireDocument[]>('/documents?limit=100')).body.map(({ external_id: id }) => id);

/** Puts in one after the other until nothing is taken any more. */
async function putUntilFull(put: (number: number) => Promise<Reply<unknown>>) {
  const taken: number[] = [];
  const refused: number[] = [];
  let inARow = 0;
  for (let number = 0; inARow < REFUSALS && number < MAX_TRIES; number += 1) {
    const { status } = await put(number);
    const isTaken = status < 300;
    (isTaken ? taken : refused).push(status);
    inARow = isTaken ? 0 : inARow + 1;
  }
  return { taken: taken.length, refused, isFull: inARow === REFUSALS };
}

const LATER = { prefer: 'respond-async' };

/** Fills the disk in all ways at the same time. */
async function fill(client: Client) {
  const [source] = await documentsOf(client);
  const cache = { model: 'label', gguf_file: MODEL, docs: [source] };
  const ways = {
    uploads: (n: number) => {
      const headers = { ...LATER, 'idempotency-key': `upload ${String(n)}` };
      return client.ingestFile(unreadableFile(MEGABYTES.upload), 'plates.docx', headers);
    },
    texts: (n: number) => client.ingestText(textOf(n, 200_000), {}, LATER),
    states: (n: number) =>
      client.post('/cache/create', { ...cache, name: `state-${String(n)}` }, { prefer: 'wait=20' }),
  };
  return Promise.all(Object.entries(ways).map(async ([way, put]) => ({ way, ...(await putUntilFull(put)) })));
}

async function deleteAll(client: Client): Promise<(number | string)[]> {
  const statuses: (number | string)[] = [];
  const remove = async (path: string) => {
    statuses.push(await statusOf(client.delete(path)));
  };
  const { body: caches } = await client.get<{ readonly name: string }[]>('/caches');
  for (const { name } of caches) await remove(`/cache/${name}`);
  for (let ids = await documentsOf(client); ids.length > 0; ids = await documentsOf(client)) {
    for (const id of ids) await remove(`/documents/${id}`);
    // One that is still listed would be deleted for ever.
    if (statuses.at(-1) !== 200) break;
  }
  return statuses;
}

async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/** Fills the disk, and empties it while uploads still hold what they began to write. */
async function fillAndDelete({ as, port }: Target) {
  const filler = as(FILLER);
  const begun = unreadableFile(MEGABYTES.stalled);
  const held = await holdUploads({ port, caller: filler, begun }, STALLED_UPLOADS);
  const ways = await fill(filler);
  const deletions = [...(await deleteAll(as(MODEST))), ...(await deleteAll(filler))];
  closeAll(held);
  const never = ways.filter(({ isFull }) => !isFull).map(({ way }) => way);
  return {
    taken: ways.map(({ way, taken }) => `${String(taken)} ${way}`).join(', '),
    refused: observed(
      ways.flatMap((each) => each.refused),
      oneOf(202, 429, 503),
    ),
    deleted: observed(deletions, oneOf(200)),
    endless: never.length > 0 ? `${never.join(', ')} never filled the disk` : null,
  };
}

/** @returns the seconds until a text is ingested, or null where that takes too long */
async function secondsUntilTaken({ as, slowness }: Target): Promise<string | null> {
  const start = performance.now();
  const isTaken = async () => (await statusOf(as(MODEST).ingestText(textOf(0, 20_000)))) === 200;
  const isDone = await until(isTaken, TAKEN_AGAIN_SECONDS * slowness).then(
    () => true,
    () => false,
  );
  return isDone ? ((performance.now() - start) / 1_000).toFixed(1) : null;
}

async function run(target: Target): Promise<Observed> {
  const { result, least } = await watchFigure(
    () => freeBytes(target.service.dataDirectory),
    () => fillAndDelete(target),
  );
  const { taken, refused, deleted, endless } = result;
  const seconds = await secondsUntilTaken(target);
  const free = `${String(Math.round(least / MEGABYTE))} MB stayed free`;
  const wrong = [
    refused.wrong,
    deleted.wrong,
    endless,
    least < LEAST_FREE ? `only ${free}` : null,
    seconds === null ? 'no text is taken although everything was deleted' : null,
  ].filter((each) => each !== null);
  return {
    answer: `${taken}, then ${refused.answer}; ${free}; deletions ${deleted.answer}; taken again after ${String(seconds)} s`,
    wrong: wrong.length > 0 ? wrong.join('; ') : null,
  };
}

export const fullDiskAttacks: readonly Attack[] = [
  {
    name: 'uploads, texts, states of models and stalled bodies that fill the disk of Redis and of objects',
    isLong: true,
    patienceSeconds: 600,
    surround,
    prepare: async ({ as }) => {
      await ingest(as(FILLER), textOf(0, 640));
      for (let number = 0; number < MODEST_DOCUMENTS; number += 1)
        await ingest(as(MODEST), textOf(number, 20_000));
    },
    run,
  },
];
