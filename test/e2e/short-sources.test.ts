import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { linesOf, ndjson, outcomesOf } from '../support/batches.js';
import { createClient, type WireDocument } from '../support/client.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { startService, type Service } from '../support/service.js';
import { storedSources } from '../support/stored-sources.js';
import { until } from '../support/until.js';

let redis: TestRedis;
let service: Service;

beforeAll(async () => {
  redis = await startTestRedis({ arguments: ['--appendfsync', 'always'] });
  service = await startService({ redis });
});
afterAll(async () => {
  await service.stop();
  await redis.stop();
});

type Client = ReturnType<typeof createClient>;

/** Takes texts in without any worker, and resolves with the ids of their documents. */
type TakeIn = (client: Client, texts: readonly string[]) => Promise<(string | undefined)[]>;

/** The second text names another reader, so that its record needs a step of its own. */
const itemsOf = (texts: readonly string[]) =>
  texts.map((content, i) => ({ content, ...(i === 1 ? { access_control: { readers: ['bob'] } } : {}) }));

const oneByOne: TakeIn = async (client, texts) => {
  const ingest = (text: string) => client.ingestText(text, {}, { prefer: 'respond-async' });
  const answers = await Promise.all(texts.map(ingest));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  return answers.map(({ body }) => body.external_id);
};

const asBatch: TakeIn = async (client, texts) => {
  const body = { documents: itemsOf(texts) };
  const answer = await client.post('/ingest/batch', body, { prefer: 'respond-async' });
  expect(answer.status).toBe(202);
  return outcomesOf(answer.body).map(({ document_id: id }) => id);
};

const asStream: TakeIn = async ({ authorization }, texts) => {
  const response = await fetch(`${service.url}/ingest/batch`, {
    method: 'POST',
    body: ndjson(itemsOf(texts)),
    headers: { authorization, 'content-type': 'application/x-ndjson', prefer: 'respond-async' },
  });
  return linesOf(await response.text()).map(({ document_id: id }) => id);
};

const WAYS: readonly [string, TakeIn][] = [
  ['widgeon', oneByOne],
  ['pintail', asBatch],
  ['gadwall', asStream],
];

test('short texts that were acknowledged survive when all processes are killed, without any file', async () => {
  const client = createClient(service.url, 'alice');
  await Promise.all(service.workers.map((worker) => worker.kill('SIGKILL')));
  service.workers.length = 0;
  const taken: { id: string; bird: string; text: string }[] = [];
  for (const [kind, takeIn] of WAYS) {
    const birds = Array.from({ length: 40 }, (_, i) => `${kind}${String(i)}`);
    const texts = birds.map((bird) => `The ${bird} grazes.`);
    const ids = await takeIn(client, texts);
    expect(new Set(ids).size).toBe(texts.length);
    taken.push(...birds.map((bird, i) => ({ id: ids[i] ?? '', bird, text: texts[i] ?? '' })));
  }
  await service.api.kill('SIGKILL');
  await redis.crash();
  expect(await storedSources(service.dataDirectory)).toEqual([]);
  await rm(join(service.dataDirectory, 'objects'), { recursive: true, force: true });
  await redis.start();
  await service.startApi();
  service.startWorker();
  await service.untilReady();
  for (const { id, bird, text } of taken) {
    await until(async () => {
      const { system_metadata: system } = (await client.get<WireDocument>(`/documents/${id}`)).body;
      return system.status === 'completed';
    });
    const response = await fetch(`${service.url}/documents/${id}/download`, {
      headers: { authorization: client.authorization },
    });
    expect(await response.text()).toBe(text);
    expect((await client.searchChunks(bird)).body[0]?.document_id).toBe(id);
  }
});
