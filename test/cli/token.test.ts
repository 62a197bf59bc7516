import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import jsonwebtoken from 'jsonwebtoken';

const secret = 'a secret of more than thirty-two bytes';
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-token-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function quire(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const base = { PATH: process.env['PATH'], QUIRE_DATA_DIR: folder };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['dist/cli/main.js', ...args],
      { env: { ...base, ...env } },
      (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
      },
    );
  });
}

describe('quire token', () => {
  test('makes a token offline that names the caller, its permissions and its end', async () => {
    const args = [
      'token',
      '--name',
      ' Alice Smith ',
      '--days',
      '3',
      '--permissions',
      'admin,read',
      '--type',
      'user',
    ];
    const { code, stdout } = await quire(args, { JWT_SECRET_KEY: secret, QUIRE_DEV_MODE: 'false' });
    expect(code).toBe(0);
    const token = jsonwebtoken.verify(stdout.trim(), secret, { algorithms: ['HS256'], complete: true });
    expect(token.payload).toMatchObject({
      entity_id: 'alice_smith',
      type: 'user',
      permissions: ['read', 'admin'],
    });
    const { iat = 0, exp = 0 } = typeof token.payload === 'string' ? {} : token.payload;
    expect(exp - iat).toBe(3 * 86_400);
  });

  test('says read and write unless told otherwise', async () => {
    const { stdout } = await quire(['token', '--name', 'alice'], { JWT_SECRET_KEY: secret });
    expect(jsonwebtoken.decode(stdout.trim())).toMatchObject({
      permissions: ['read', 'write'],
      type: 'developer',
    });
  });

  test('uses the secret of the data folder in dev mode', async () => {
    const { stdout } = await quire(['token', '--name', 'alice'], { QUIRE_DEV_MODE: 'true' });
    const made = (await readFile(join(folder, 'jwt-secret'), 'utf8')).trim();
    expect(jsonwebtoken.verify(stdout.trim(), made)).toMatchObject({ entity_id: 'alice' });
  });

  test.each([
    ['--name', 'no/slashes'],
    ['--name', 'x'.repeat(65)],
    ['--days', '0'],
    ['--days', '3651'],
    ['--days', '1.5'],
    ['--permissions', 'read,everything'],
    ['--type', 'robot'],
  ])('refuses %s %s, saying what is allowed', async (option, value) => {
    const args = option === '--name' ? [] : ['--name', 'alice'];
    const { code, stdout, stderr } = await quire(['token', ...args, option, value], {
      JWT_SECRET_KEY: secret,
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`${option} ${value}: allowed:`);
  });

  test('asks for a secret outside dev mode', async () => {
    const { code, stderr } = await quire(['token', '--name', 'alice'], { QUIRE_DEV_MODE: 'false' });
    expect(code).toBe(1);
    expect(stderr).toContain('JWT_SECRET_KEY');
  });
});
