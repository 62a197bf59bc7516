import { EventEmitter, once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { LlamaContextSequence } from 'node-llama-cpp';
import { openStateFiles } from '../../src/models/engine/chat/saved-states.js';
import { createLogger } from '../../src/shared/observability/logger.js';
import { until } from '../support/until.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quire-states-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const logger = createLogger({ level: 'silent', process: 'test' });
const openFiles = () =>
  openStateFiles(directory, { maxBytes: 1024 ** 2, disk: { requireRoom: () => Promise.resolve() }, logger });

const owner = { fingerprint: 'f', template: 't', window: 4_096, engine: 'e' };
test('a manifest of another format is none, and goes with its state at the next start', async () => {
  const manifest = { id: 'one', group: '', ...owner, bytes: 1, tokens: 'AAAAAA==' };
  for (const [name, format] of Object.entries({ now: 1, once: 0 })) {
    await writeFile(join(directory, `${name}.json`), JSON.stringify({ ...manifest, format }));
    await writeFile(join(directory, `${name}.state`), 'x');
  }
  expect(await (await openFiles()).list()).toHaveLength(1);
  expect((await readdir(directory)).sort()).toEqual(['now.json', 'now.state']);
});

test('a state that is removed while it is saved does not come back', async () => {
  const files = await openFiles();
  const gate = new EventEmitter();
  const saveStateToFile = async (path: string) => {
    await writeFile(path, 'what the model knows');
    await once(gate, 'open');
  };
  // @NOTE of the engine's sequence, saving uses these alone; the real one cannot be held up
  const sequence = { context: { stateSize: 21 }, saveStateToFile } as unknown as LlamaContextSequence;
  const saved = files.save('one', { ...owner, group: '', tokens: [], sequence });
  const removed = files.remove('one');
  await until(async () => (await readdir(directory)).length > 0);
  // The removal has done by then all that it would do meanwhile.
  await sleep(50);
  gate.emit('open');
  await Promise.all([saved, removed]);
  expect(await files.list()).toEqual([]);
  expect(await readdir(directory)).toEqual([]);
});

test('nothing is left of a state that could not be saved again', async () => {
  const files = await openFiles();
  const save = (saveStateToFile: (path: string) => Promise<void>) => {
    // @NOTE of the engine's sequence, saving uses these alone
    const sequence = { context: { stateSize: 21 }, saveStateToFile } as unknown as LlamaContextSequence;
    return files.save('one', { ...owner, group: '', tokens: [], sequence });
  };
  await save((path) => writeFile(path, 'what the model knows'));
  expect(await readdir(directory)).toHaveLength(2);
  await expect(save(() => Promise.reject(new Error('no space left')))).rejects.toThrow('no space left');
  expect(await files.list()).toEqual([]);
  expect(await readdir(directory)).toEqual([]);
});
