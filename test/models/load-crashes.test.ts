import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startModels, type ModelsProcess } from '../support/models-process.js';
import { runQuire } from '../support/run-quire.js';

let models: ModelsProcess;
beforeAll(async () => {
  models = await startModels();
  // Large enough to be caught while it is loaded.
  await models.write('large.gguf', { kind: 'embedding', dimension: 512, layers: 24 });
});
afterAll(() => models.stop());

const journal = () => join(models.dataDirectory, 'load-crashes.json');
const embed = (model = 'large.gguf') => models.post('/v1/embeddings', { model, input: 'x' });

/** The journal is there while a file is loaded, and after crashes. */
async function isLoading(): Promise<boolean> {
  if (!existsSync(journal())) return false;
  return (await readFile(journal(), 'utf8')).includes('"isLoading":true');
}

async function killWhileLoading(): Promise<void> {
  const state = { isAnswered: false };
  const asked = embed()
    .catch(() => 'the connection is lost')
    .finally(() => {
      state.isAnswered = true;
    });
  // A file is loaded within some hundredths of a second, so that the pauses must not grow.
  while (!(await isLoading())) {
    if (state.isAnswered) throw new Error('the file was loaded between two looks at the journal');
    await sleep(1);
  }
  await models.restart('SIGKILL');
  expect(await asked).toBe('the connection is lost');
}

/** As if so many seconds had gone by since the process was started again. */
async function passSeconds(seconds: number): Promise<void> {
  const entries = JSON.parse(await readFile(journal(), 'utf8')) as Record<string, { at: number }>;
  const earlier = Object.entries(entries).map(([file, entry]) => [
    file,
    { ...entry, at: entry.at - 1_000 * seconds },
  ]);
  await writeFile(journal(), JSON.stringify(Object.fromEntries(earlier)));
  await models.restart('SIGTERM');
}

const quire = (...args: string[]) => runQuire(['models', ...args], { QUIRE_DATA_DIR: models.dataDirectory });

test('a file that was loaded when the process was killed is refused for a while only, longer each time', async () => {
  await killWhileLoading();
  // Once may have been anything.
  await killWhileLoading();
  const refused = await embed();
  expect(refused.status).toBe(500);
  expect(refused.body['error']).toMatchObject({
    code: 'invalid_model',
    message: expect.stringMatching(
      /^the process ended 2 times while it loaded this file, which is not tried again before \d{4}-.*Z$/,
    ),
  });
  const { stdout } = await quire('list');
  expect(stdout).toMatch(
    /^large\.gguf .* ended the process 2 times while it was loaded, not tried again before \d{4}-/m,
  );
  await passSeconds(20);
  expect((await embed()).status).toBe(500);
  await passSeconds(60);
  await killWhileLoading();
  await passSeconds(61);
  expect((await embed()).status).toBe(500);
  await passSeconds(60);
  expect((await embed()).status).toBe(200);
  expect(existsSync(journal())).toBe(false);
});
