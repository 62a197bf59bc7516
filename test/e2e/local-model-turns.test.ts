import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient } from '../support/client.js';
import { ingestText } from '../support/cache-client.js';
import { startModels, type ModelsProcess } from '../support/models-process.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let models: ModelsProcess;
let service: Service;
beforeAll(async () => {
  models = await startModels();
  await models.write('chat.gguf', { kind: 'chat' });
  service = await startService({
    env: {
      ...models.env,
      QUIRE_DEV_MODE: 'false',
      QUIRE_COMPLETER: 'local',
      QUIRE_COMPLETION_MODEL: 'chat.gguf',
    },
  });
});
afterAll(async () => {
  await service.stop();
  await models.stop();
});

const user = (name: string) => createClient(service.url, name);
type Client = ReturnType<typeof user>;

async function makeCache(client: Client): Promise<void> {
  const docs = [await ingestText(client, 'Everything about harbours and cranes.')];
  const request = { name: 'port', model: 'label', gguf_file: 'chat.gguf', docs };
  expect(await client.post('/cache/create', request)).toMatchObject({ status: 200 });
}

test.each(['/cache/port/query', '/query'])(
  'a caller with many questions to a local model (%s) does not keep it from another with one',
  async (path) => {
    const [greedy, modest] = [user(`greedy at ${path}`), user(`modest at ${path}`)];
    await makeCache(greedy);
    await makeCache(modest);
    let answered = 0;
    const flood = Array.from({ length: 16 }, async (_, n) => {
      const query = `What about harbours, for the time ${String(n)}?`;
      const { status } = await greedy.post(path, { query, max_tokens: 300 });
      answered += 1;
      return status;
    });
    // They fill the queue of the model before the other one comes.
    await until(() => answered > 2);
    const before = answered;
    expect(await modest.post(path, { query: 'And cranes?', max_tokens: 4 })).toMatchObject({ status: 200 });
    // The calls that hold the two places, the calls that take them next, and one that is answered meanwhile.
    expect(answered - before).toBeLessThanOrEqual(6);
    expect(new Set(await Promise.all(flood))).toEqual(new Set([200]));
  },
);

test('two long answers of a caller, which are all that the model gives at once, leave one of its places to another', async () => {
  const [greedy, modest] = [user('greedy for long'), user('modest beside long')];
  await greedy.ingestText('Everything about harbours and cranes.');
  await modest.ingestText('Everything about lighthouses and fog.');
  let answered = 0;
  const long = ['harbours', 'cranes'].map(async (word) => {
    const { status } = await greedy.post('/query', { query: `What about ${word}?`, max_tokens: 3_000 });
    answered += 1;
    return status;
  });
  await sleep(300);
  expect(await modest.post('/query', { query: 'And fog?', max_tokens: 4 })).toMatchObject({ status: 200 });
  expect(answered).toBe(0);
  expect(await Promise.all(long)).toEqual([200, 200]);
});
