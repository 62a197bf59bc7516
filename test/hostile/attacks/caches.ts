import { setTimeout as sleep } from 'node:timers/promises';
import { strToU8 } from 'fflate';
import type { Client } from '../../support/client.js';
import { observed, oneOf, statusOf, type Attack, type Target } from '../attack.js';

const model = { model: 'some-model', gguf_file: 'some-model.gguf' };

const create = (client: Client, name: string, selection: Record<string, unknown>, prefer: string) =>
  client.post('/cache/create', { name, ...model, ...selection }, { prefer });

/** Selects all documents of a caller. */
const ALL = { filters: {} };

/** Seconds until a caller has a cache of one small document. */
async function smallCacheSeconds({ as }: Target, user: string): Promise<number> {
  const client = as(user);
  const { body } = await client.ingestText('A small text.', {}, { prefer: 'wait=100' });
  const start = performance.now();
  const { status } = await create(client, 'small', { docs: [body.external_id] }, 'wait=100');
  if (status !== 200) throw new Error(`the small cache: ${String(status)}`);
  return (performance.now() - start) / 1_000;
}

/** Tiny documents, thousands of which fit into a cache. */
async function ingestTiny({ as, isShort }: Target): Promise<void> {
  const client = as('collector');
  for (let ingested = 0; ingested < (isShort ? 200 : 4_000); ingested += 100) {
    const some = Array.from({ length: 100 }, () =>
      statusOf(client.ingestText('x', {}, { prefer: 'wait=100' })),
    );
    const { wrong } = observed(await Promise.all(some), oneOf(200));
    if (wrong !== null) throw new Error(`tiny documents: ${wrong}`);
  }
}

/** Starts as many builds of large caches as workers do at once. @returns when the last of them has ended */
async function startLarge(owner: Client): Promise<() => Promise<void>> {
  const names = Array.from({ length: 4 }, (_, n) => `large-${String(n)}`);
  const started = await Promise.all(names.map((name) => create(owner, name, ALL, 'respond-async')));
  const { wrong } = observed(
    started.map(({ status }) => status),
    oneOf(200, 202),
  );
  if (wrong !== null) throw new Error(`large caches: ${wrong}`);
  return async () => {
    for (const name of names) while (await isBuilding(owner, name)) await sleep(100);
  };
}

const isBuilding = async (client: Client, name: string): Promise<boolean> =>
  (await client.get<{ readonly status?: string }>(`/cache/${name}`)).body.status === 'building';

/** On a full machine, a file may take longer than parsers may. */
async function ingestSlow(client: Client, bytes: Uint8Array, filename: string): Promise<number | string> {
  let status: number | string = 0;
  for (let tries = 0; status !== 200 && tries < 3; tries += 1)
    status = await statusOf(client.ingestFile(bytes, filename, { prefer: 'wait=100' }));
  return status;
}

const MEGABYTE = 1024 ** 2;
const FILES = 4;

export const cacheAttacks: readonly Attack[] = [
  {
    name: 'a cache of files that are far longer than what the model reads',
    patienceSeconds: 120,
    growth: 60,
    prepare: async ({ as, isShort }) => {
      const bytes = strToU8(`${'-'.repeat(127)}\n`.repeat(((isShort ? 1 : 2) * MEGABYTE) / 128));
      const files = Array.from({ length: FILES }, (_, n) =>
        ingestSlow(as('dashes'), bytes, `${String(n)}.txt`),
      );
      const { wrong } = observed(await Promise.all(files), oneOf(200));
      if (wrong !== null) throw new Error(`files of dashes: ${wrong}`);
    },
    run: async ({ as }) => {
      const owner = as('dashes');
      // By their ids: what filters select is refused before a worker reads it.
      const { body } = await owner.get<{ readonly external_id: string }[]>('/documents');
      const docs = body.map(({ external_id: id }) => id);
      const asked = Array.from({ length: 4 }, (_, n) =>
        statusOf(create(owner, `dashes-${String(n)}`, { docs }, 'wait=100')),
      );
      return observed(await Promise.all(asked), oneOf(400, 422));
    },
  },
  {
    name: 'caches of thousands of documents before a small one of another',
    patienceSeconds: 120,
    prepare: ingestTiny,
    run: async (target) => {
      const alone = await smallCacheSeconds(target, 'collector of one');
      const untilBuilt = await startLarge(target.as('collector'));
      const beside = await smallCacheSeconds(target, 'another collector of one');
      const start = performance.now();
      await untilBuilt();
      const rest = (performance.now() - start) / 1_000;
      const late = beside - alone > 2 * target.slowness;
      return {
        answer: `${alone.toFixed(1)} s alone, ${beside.toFixed(1)} s beside; the large ones ${rest.toFixed(1)} s more`,
        wrong: late ? `${beside.toFixed(1)} s beside them` : null,
      };
    },
  },
];
