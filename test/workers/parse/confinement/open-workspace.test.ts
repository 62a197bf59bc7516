import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { openWorkspace } from '../../../../src/workers/parse/confinement/workspace.js';
import { until } from '../../../support/until.js';

test('workers that start at the same time all start, and remove what was left behind once', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'quire-open-workspace-'));
  for (let left = 0; left < 300; left += 1)
    await mkdir(join(parent, `quire-parse-${String(left)}`, 'incoming'), { recursive: true });
  const opening = [openWorkspace({ parent })];
  // The first removes while the others, one after another, look for what to remove.
  await until(async () => (await readdir(parent)).length < 300);
  for (let started = 1; started < 12; started += 1) {
    opening.push(openWorkspace({ parent }));
    await setImmediate();
  }
  const workspaces = await Promise.all(opening);
  expect(await readdir(parent)).toHaveLength(12);
  for (const workspace of workspaces) await workspace.close();
  expect(await readdir(parent)).toEqual([]);
  await rm(parent, { recursive: true });
});
