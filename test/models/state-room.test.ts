import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { LlamaContextSequence, Token } from 'node-llama-cpp';
import { openStateFiles, type StateFiles } from '../../src/models/engine/chat/saved-states.js';
import { UnavailableError } from '../../src/shared/errors.js';
import { createLogger } from '../../src/shared/observability/logger.js';

const madeOf = { fingerprint: 'f', template: 't', window: 4_096, engine: 'e' };

/** Stands in for the engine's work on a state, with a file of this many bytes. */
const sequenceOf = (bytes: number) =>
  // @NOTE nothing else of a sequence is used to save it
  ({
    context: { stateSize: bytes },
    contextTokens: tokensOf(1),
    saveStateToFile: (path: string) => writeFile(path, Buffer.alloc(bytes)),
  }) as unknown as LlamaContextSequence;

// @NOTE Token is a number that the engine's types brand
const tokensOf = (count: number) => Array.from({ length: count }, (_, n) => n) as Token[];

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quire-states-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const logger = createLogger({ level: 'silent', process: 'test' });
const openFiles = (maxBytes: number, free = Infinity) =>
  openStateFiles(directory, { maxBytes, disk: diskWith(free), logger });

const diskWith = (free: number) => ({
  requireRoom: (bytes = 0) =>
    bytes > free ? Promise.reject(new UnavailableError('room on the disk')) : Promise.resolve(),
});

async function save(
  files: StateFiles,
  id: string,
  { group = '', bytes = 100, tokens = 1 }: { group?: string; bytes?: number; tokens?: number } = {},
): Promise<void> {
  await files.save(id, { ...madeOf, group, tokens: tokensOf(tokens), sequence: sequenceOf(bytes) });
}

const idsOf = async (files: StateFiles) => (await files.list()).map(({ id }) => id).sort();

test('an owner who fills the room removes what is their own, however often they do it', async () => {
  const files = await openFiles(1_000);
  for (const n of [1, 2, 3]) await save(files, `modest ${String(n)}`, { group: 'modest' });
  for (let n = 0; n < 50; n += 1) await save(files, `greedy ${String(n)}`, { group: 'greedy' });
  expect(await idsOf(files)).toEqual([
    ...[43, 44, 45, 46, 47, 48, 49].map((n) => `greedy ${String(n)}`),
    ...[1, 2, 3].map((n) => `modest ${String(n)}`),
  ]);
  expect(await readdir(directory)).toHaveLength(20);
  // Also after a restart.
  const again = await openFiles(1_000);
  await save(again, 'greedy 50', { group: 'greedy' });
  expect((await idsOf(again)).filter((id) => id.startsWith('modest'))).toHaveLength(3);
});

test('a state that is larger than all room is not kept, and removes no other', async () => {
  const files = await openFiles(1_000);
  await save(files, 'small', { group: 'modest' });
  await save(files, 'vast', { group: 'greedy', bytes: 1_001 });
  expect(await idsOf(files)).toEqual(['small']);
  expect(await files.find('vast', madeOf)).toBeNull();
  await save(files, 'large', { group: 'greedy', bytes: 950 });
  expect(await idsOf(files)).toEqual(['large']);
});

test('what was used last stays, in the memory and on the disk', async () => {
  const files = await openFiles(300);
  for (const id of ['one', 'two', 'three']) await save(files, id);
  expect(await files.find('one', madeOf)).not.toBeNull();
  const again = await openFiles(300);
  await save(again, 'four');
  expect(await idsOf(again)).toEqual(['four', 'one', 'three']);
  await again.remove('one');
  expect(await idsOf(again)).toEqual(['four', 'three']);
});

test('a state costs the same to save and to list, however many others there are', async () => {
  const files = await openFiles(1e9);
  const cost = async () => {
    const begin = process.cpuUsage();
    for (let n = 0; n < 5; n += 1) {
      await save(files, 'measured', { tokens: 8_000 });
      await files.list();
    }
    const { user, system } = process.cpuUsage(begin);
    return user + system;
  };
  await cost();
  const alone = await cost();
  for (let n = 0; n < 600; n += 1) await save(files, String(n), { tokens: 8_000 });
  expect(await cost()).toBeLessThan(10 * alone);
});

test('a manifest that is damaged is no reason not to start', async () => {
  const files = await openFiles(1e9);
  await save(files, 'whole');
  const [name = ''] = (await readdir(directory)).filter((each) => each.endsWith('.json'));
  const text = await readFile(join(directory, name), 'utf8');
  for (const tokens of ['AAA=', '!', '']) {
    await writeFile(
      join(directory, 'f'.repeat(40) + '.json'),
      text.replace(/"tokens":".*"/, `"tokens":"${tokens}"`),
    );
    expect((await idsOf(await openFiles(1e9))).length).toBeLessThanOrEqual(2);
  }
});

test('a state that would take more than is free on the disk is neither saved nor put aside', async () => {
  const files = await openFiles(1e9, 150);
  await expect(save(files, 'large', { bytes: 151 })).rejects.toThrow('room on the disk');
  expect(await files.putAside(sequenceOf(151))).toBeNull();
  expect(await readdir(directory)).toEqual([]);
  await save(files, 'small', { bytes: 150 });
  expect(await idsOf(files)).toEqual(['small']);
  expect(await files.putAside(sequenceOf(150))).not.toBeNull();
});
