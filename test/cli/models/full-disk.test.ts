import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { startQuire } from '../../support/run-quire.js';
import { until } from '../../support/until.js';
import { filesOf, useModelPulls } from '../../support/use-model-pulls.js';

const world = useModelPulls();
const MEGABYTE = 1024 ** 2;

const mount = (directory: string, megabytes: number) =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${String(megabytes)}m`, 'tmpfs', directory]).status === 0;
const unmount = (directory: string) => spawnSync('umount', ['-l', directory]);

function canMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'quire-mount-'));
  const mounted = mount(directory, 1);
  if (mounted) unmount(directory);
  else process.stderr.write('skipped: pulls onto a full disk, since no file system can be mounted here\n');
  rmSync(directory, { recursive: true });
  return mounted;
}

afterEach(() => {
  unmount(world.models);
});

(canMount() ? describe : describe.skip)('pulling onto a full disk', () => {
  test('is refused before it begins, where the room does not suffice', async () => {
    await mkdir(world.models);
    mount(world.models, 2);
    world.serve(world.path);
    for (const source of [world.source, join(world.folder, world.file)]) {
      const { code, stderr } = await world.pull([source]);
      expect({ code, stderr }).toMatchObject({ code: 1 });
      expect(stderr).toContain('MB free');
    }
    expect((await filesOf(world.models)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('says so where it fills up meanwhile, and goes on later', async () => {
    await mkdir(world.models);
    mount(world.models, 80);
    world.serve(world.path, { pauseMs: 100 });
    const { ended } = startQuire(['models', 'pull', world.source], world.environment());
    await until(() => world.server.sentOf(world.path) >= 64 * 1024);
    const others = join(world.models, 'others');
    await writeFile(others, Buffer.alloc(80 * MEGABYTE)).catch(() => undefined);
    const { code, stderr } = await ended;
    expect({ code, stderr }).toMatchObject({ code: 1 });
    expect(stderr).toContain(`${world.models} has no room left.`);
    await rm(others);
    world.server.seen.length = 0;
    world.serve(world.path);
    expect(await world.pull([world.source])).toMatchObject({ code: 0 });
    expect(world.server.sentOf(world.path)).toBeLessThan(world.body.length);
    expect(await readFile(join(world.models, world.file))).toEqual(world.body);
  });
});
