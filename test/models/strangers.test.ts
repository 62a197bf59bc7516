import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startModels, type ModelsProcess } from '../support/models-process.js';

let models: ModelsProcess;
beforeAll(async () => {
  models = await startModels();
});
afterAll(() => models.stop());

/** As a page of a browser could send it whose name was made to point to this machine. */
async function askAs(host: string, path: string, method = 'GET'): Promise<number> {
  const asked = request(`${models.url}${path}`, { method, headers: { host } }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

test('without a token, pages of other names are told nothing and can remove nothing', async () => {
  for (const [path, method] of [
    ['/v1/models', 'GET'],
    ['/v1/states', 'GET'],
    ['/v1/states/some', 'DELETE'],
    ['/metrics', 'GET'],
  ] as const) {
    for (const host of [
      'attacker.example',
      'attacker.example:8010',
      'localhost.attacker.example',
      '127.0.0.1.attacker.example',
    ])
      expect({ host, path, status: await askAs(host, path, method) }).toEqual({ host, path, status: 403 });
    for (const host of ['127.0.0.1:8010', 'localhost', '[::1]:8010'])
      expect([200, 204]).toContain(await askAs(host, path, method));
  }
  expect(await askAs('attacker.example', '/health')).toBe(200);
});

test('with a token, nobody else is answered', async () => {
  await models.restart('SIGTERM', { QUIRE_MODELS_TOKEN: 'a-token-of-some-length' });
  const without = await fetch(`${models.url}/v1/models`);
  expect(without.status).toBe(401);
  const headers = { authorization: 'Bearer a-token-of-some-length' };
  expect((await fetch(`${models.url}/v1/models`, { headers })).status).toBe(200);
});
