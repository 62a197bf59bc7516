import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile, chown } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { audited } from '../../src/cli/audited.js';
import { loadSettings } from '../../src/shared/settings/load.js';

let data: string;
const folder = () => join(data, 'audit');
const settings = (more: Record<string, string> = {}) =>
  loadSettings({ QUIRE_DATA_DIR: data, QUIRE_AUDIT_LOG: 'true', ...more }, []);
const today = () => new Date().toISOString().slice(0, 10);

async function lines(): Promise<Record<string, unknown>[]> {
  const names = (await readdir(folder())).filter((name) => name.startsWith(`${today()}.cli.`));
  const texts = await Promise.all(names.map((name) => readFile(join(folder(), name), 'utf8')));
  return texts.flatMap((text) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  );
}

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'quire-audited-'));
});
afterEach(async () => {
  await rm(data, { recursive: true, force: true });
});

describe('a command with an audit log', () => {
  test('leaves one line with who gave it and how it ended, and commands of one account share a file', async () => {
    const result = await audited('command.token', settings(), () => Promise.resolve('made'), { user: 'ann' });
    expect(result).toBe('made');
    const failing = audited('command.backup', settings(), () => Promise.reject(new Error('no place')));
    await expect(failing).rejects.toThrow('no place');
    const { username } = userInfo();
    const common = { type: 'command', process: 'cli', account: username };
    expect(await lines()).toEqual([
      expect.objectContaining({ ...common, action: 'command.token', user: 'ann', succeeded: true }),
      expect.objectContaining({ ...common, action: 'command.backup', succeeded: false }),
    ]);
    expect(await readdir(folder())).toHaveLength(1);
    expect((await stat(folder())).mode & 0o777).toBe(0o700);
  });

  test('removes no older file, whatever its own settings keep', async () => {
    await mkdir(folder(), { mode: 0o700 });
    const old = '2024-01-01.api.0123abcd.jsonl';
    await writeFile(join(folder(), old), '{}\n');
    await audited('command.token', settings({ QUIRE_AUDIT_KEEP_DAYS: '1' }), () => Promise.resolve());
    expect(await readdir(folder())).toContain(old);
  });

  test('does not begin where a log that is required is full or cannot be written', async () => {
    await mkdir(folder(), { mode: 0o700 });
    await writeFile(join(folder(), `${today()}.api.0123abcd.jsonl`), 'x'.repeat(1_100_000));
    let hasRun = false;
    const work = () => Promise.resolve((hasRun = true));
    const full = { QUIRE_AUDIT_REQUIRED: 'true', QUIRE_AUDIT_MAX_MEGABYTES: '1' };
    await expect(audited('command.backup', settings(full), work)).rejects.toThrow('audit.max_megabytes');
    const nowhere = { QUIRE_AUDIT_REQUIRED: 'true', QUIRE_AUDIT_FOLDER: '/dev/null/audit' };
    await expect(audited('command.backup', settings(nowhere), work)).rejects.toThrow('audit.required');
    expect(hasRun).toBe(false);
  });

  test('goes on where the log cannot be written and is not required', async () => {
    const nowhere = settings({ QUIRE_AUDIT_FOLDER: '/dev/null/audit' });
    await expect(audited('command.token', nowhere, () => Promise.resolve('made'))).resolves.toBe('made');
  });

  const asRoot = process.getuid?.() === 0 ? test : test.skip;
  asRoot('given by root leaves the folder to the owner of the data', async () => {
    await chown(data, 65_534, 65_534);
    await audited('command.token', settings(), () => Promise.resolve());
    const [name = ''] = await readdir(folder());
    for (const path of [folder(), join(folder(), name)]) expect((await stat(path)).uid).toBe(65_534);
  });

  test('writes where the log lies elsewhere, also where there is no folder of data', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'quire-audit-'));
    try {
      await rm(data, { recursive: true });
      const required = { QUIRE_AUDIT_FOLDER: elsewhere, QUIRE_AUDIT_REQUIRED: 'true' };
      await audited('command.token', settings(required), () => Promise.resolve());
      expect(await readdir(elsewhere)).toHaveLength(1);
    } finally {
      await rm(elsewhere, { recursive: true, force: true });
    }
  });
});
