import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';

const script = join(import.meta.dirname, '../../scripts/ci/sbom.mjs');
const billSchema = z.looseObject({ components: z.array(z.looseObject({ name: z.string() })) });

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-sbom-'));
  const [dependencies, devDependencies] = [{ first: '1.0.0' }, { tool: '1.0.0' }];
  const quire = { name: 'quire', version: '0.1.0' };
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...quire, dependencies, devDependencies }));
  const packages = {
    '': { ...quire, dependencies, devDependencies },
    'node_modules/first': { version: '1.0.0', license: 'MIT', dependencies: { shared: '1.0.0' } },
    'node_modules/shared': { version: '1.0.0', license: 'MIT' },
    'node_modules/tool': { version: '1.0.0', license: 'MIT', dev: true, dependencies: { shared: '1.0.0' } },
  };
  await writeFile(
    join(folder, 'package-lock.json'),
    JSON.stringify({ ...quire, lockfileVersion: 3, requires: true, packages }),
  );
});
afterEach(() => rm(folder, { recursive: true }));

function run(...args: string[]) {
  const { status, stdout } = spawnSync(process.execPath, [script, folder, ...args], { encoding: 'utf8' });
  return { status, stdout };
}

async function bill() {
  expect(run()).toEqual({ status: 0, stdout: 'sbom: 2 packages in dist/sbom.cdx.json\n' });
  return billSchema.parse(JSON.parse(await readFile(join(folder, 'dist/sbom.cdx.json'), 'utf8')));
}

describe('the bill of materials', () => {
  test('holds what production takes, development or not, and nothing else', async () => {
    expect((await bill()).components.map(({ name }) => name).toSorted()).toEqual(['first', 'shared']);
  });

  test('fails when it lacks a package, or is damaged', async () => {
    const whole = await bill();
    const check = async (changed: object) => {
      const path = join(folder, 'changed.json');
      await writeFile(path, JSON.stringify({ ...whole, ...changed }));
      return run(path);
    };
    expect((await check({})).status).toBe(0);
    const components = whole.components.filter(({ name }) => name !== 'shared');
    expect(await check({ components })).toEqual({
      status: 1,
      stdout: expect.stringContaining('it lacks shared@1.0.0'),
    });
    expect((await check({ components: [...whole.components, ...components] })).status).toBe(1);
    expect((await check({ serialNumber: undefined })).status).toBe(1);
    expect((await check({ bomFormat: 'SPDX' })).status).toBe(1);
  });
});
