import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadOrCreateSecret } from '../../../src/shared/settings/secret.js';

describe('the secret of dev mode', () => {
  test('is made once, by the process that comes first, for the owner only', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quire-secret-'));
    const made = await Promise.all(
      Array.from({ length: 20 }, () => loadOrCreateSecret(join(folder, 'data'))),
    );
    expect(new Set(made).size).toBe(1);
    expect(Buffer.byteLength(made[0] ?? '')).toBeGreaterThanOrEqual(32);
    const path = join(folder, 'data', 'jwt-secret');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await readFile(path, 'utf8')).trim()).toBe(made[0]);
    expect(await loadOrCreateSecret(join(folder, 'data'))).toBe(made[0]);
    await rm(folder, { recursive: true });
  });

  test('is refused when its file was cut short', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quire-secret-'));
    await writeFile(join(folder, 'jwt-secret'), 'short');
    await expect(loadOrCreateSecret(folder)).rejects.toThrow('less than 32 bytes');
    await rm(folder, { recursive: true });
  });
});
