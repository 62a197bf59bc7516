import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient } from '../support/client.js';
import { ingestText, type CacheAnswer, type CacheConfiguration } from '../support/cache-client.js';
import { startModels, type ModelsProcess } from '../support/models-process.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

const TOKEN = 'a-token-between-processes';
const NAMES = Array.from({ length: 8 }, (_, n) => `cache-${String(n)}`);

let processes: readonly [ModelsProcess, ModelsProcess];
let service: Service;
beforeAll(async () => {
  const start = async () => {
    const models = await startModels({ QUIRE_MODELS_TOKEN: TOKEN });
    await models.write('embed.gguf', { kind: 'embedding' });
    await models.write('chat.gguf', { kind: 'chat' });
    return models;
  };
  processes = [await start(), await start()];
  service = await startService({ env: environment() });
});
afterAll(async () => {
  await service.stop();
  for (const models of processes) await models.stop();
});

const environment = () => ({
  QUIRE_MODELS_URLS: processes.map(({ url }) => url).join(','),
  QUIRE_MODELS_TOKEN: TOKEN,
  QUIRE_DEV_MODE: 'false',
  QUIRE_EMBEDDER: 'local',
  QUIRE_EMBEDDING_MODEL: 'embed.gguf',
});

type Client = ReturnType<typeof createClient>;
type ModelAnswer = CacheAnswer & { readonly tokens_reused: number };
const text = (topic: string) => `Everything about ${topic}. `.repeat(12);

async function create(client: Client, name: string): Promise<CacheConfiguration> {
  const docs = [await ingestText(client, text(name))];
  const { status, body } = await client.post<CacheConfiguration>('/cache/create', {
    name,
    model: 'label',
    gguf_file: 'chat.gguf',
    docs,
  });
  expect({ status, body }).toMatchObject({ status: 200, body: { engine: 'llama' } });
  return body;
}

async function ask(client: Client, name: string): Promise<ModelAnswer> {
  const body = { query: 'What is it about?', max_tokens: 12 };
  const answer = await client.post<ModelAnswer>(`/cache/${name}/query`, body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}

const authorization = { authorization: `Bearer ${TOKEN}` };

async function statesOf({ url }: ModelsProcess): Promise<string[]> {
  const response = await fetch(`${url}/v1/states`, { headers: authorization });
  const { data } = (await response.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

async function textsEmbedded({ url }: ModelsProcess): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`, { headers: authorization })).text();
  return Number(/quire_models_tokens_total\{kind="embedding",what="read"\} (\d+)/.exec(metrics)?.[1] ?? 0);
}

describe('several processes with local models', () => {
  test('share the texts, and hold the caches between them, each in one', async () => {
    const ann = createClient(service.url, 'ann');
    const made = new Map<string, CacheConfiguration>();
    for (const name of NAMES) made.set(name, await create(ann, name));
    const [first, second] = await Promise.all(processes.map(statesOf));
    expect(first?.length).toBeGreaterThan(0);
    expect(second?.length).toBeGreaterThan(0);
    expect([...(first ?? []), ...(second ?? [])]).toHaveLength(NAMES.length);
    for (const models of processes) expect(await textsEmbedded(models)).toBeGreaterThan(0);
    for (const name of NAMES) {
      const { tokens_reused: reused } = await ask(ann, name);
      expect(reused).toBeGreaterThanOrEqual((made.get(name)?.token_count ?? Infinity) - 64);
    }
  });

  test('without one of them, the other embeds, answers the same, and reads the caches for the next question', async () => {
    const ann = createClient(service.url, 'ann');
    const before = new Map<string, string>();
    for (const name of NAMES) before.set(name, (await ask(ann, name)).completion);
    const [gone, left] = processes;
    await gone.process.kill('SIGKILL');
    try {
      for (const name of NAMES) expect((await ask(ann, name)).completion).toBe(before.get(name));
      for (const name of NAMES) await until(async () => (await ask(ann, name)).tokens_reused > 0);
      expect(await statesOf(left)).toHaveLength(NAMES.length);
      await ingestText(ann, 'zebra stripes');
      const { status, body } = await ann.post<{ content: string }[]>('/retrieve/chunks', {
        query: 'zebra stripes',
        k: 1,
      });
      expect({ status, content: body[0]?.content }).toEqual({ status: 200, content: 'zebra stripes' });
    } finally {
      await gone.restart('SIGKILL');
    }
    // The states that the process held before it went do not stay on its disk for ever.
    await until(async () => (await statesOf(gone)).length === 0);
    for (const name of NAMES) expect((await ask(ann, name)).tokens_reused).toBeGreaterThan(0);
  });

  test('where none answers, a question is a 503 that says when to ask again', async () => {
    const ann = createClient(service.url, 'ann');
    for (const models of processes) await models.process.kill('SIGKILL');
    try {
      const body = { query: 'What is it about?', max_tokens: 12 };
      const { status, headers } = await ann.post(`/cache/${NAMES[0] ?? ''}/query`, body);
      expect(status).toBe(503);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      for (const models of processes) await models.restart('SIGKILL');
    }
    expect((await ask(ann, NAMES[0] ?? '')).tokens_reused).toBeGreaterThan(0);
  });
});

test('two installations that share processes leave the caches of the other alone', async () => {
  const other = await startService({ env: environment() });
  try {
    const [here, there] = [createClient(service.url, 'ben'), createClient(other.url, 'ben')];
    await create(here, 'same-name');
    await create(there, 'same-name');
    const ids = (await Promise.all(processes.map(statesOf))).flat();
    expect(ids.filter((id) => id.includes('same-name'))).toHaveLength(2);
    // Each sweep of a service that runs every second looks at what is kept.
    const gone = await create(there, 'to-delete');
    expect(gone.status).toBe('ready');
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    for (const client of [here, there])
      expect((await ask(client, 'same-name')).tokens_reused).toBeGreaterThan(0);
    await there.delete('/cache/same-name');
    expect((await ask(here, 'same-name')).tokens_reused).toBeGreaterThan(0);
  } finally {
    await other.stop();
  }
});
