import { spawnSync } from 'node:child_process';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const script = join(import.meta.dirname, '../../scripts/check-circles.mjs');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-circles-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function check(files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const { status, stdout } = spawnSync(process.execPath, [script, '.'], { cwd: folder, encoding: 'utf8' });
  return { status, lines: stdout.split('\n').filter((line) => line !== '') };
}

describe('check-circles', () => {
  it('reports circles of types and of re-exports, and not two ways to one file', async () => {
    const { status, lines } = await check({
      'a.ts': "import type { B } from './rooms/b.js';\nexport type A = B[];",
      'rooms/b.ts': "import { type C } from '../c.js';\nexport type B = C | null;",
      'c.ts': "export type C = import('./a.js').A;",
      'again.ts': "export * from './against.js';",
      'against.ts': "import { again } from './again.js';\nexport const against = again;",
      'top.ts': "import './left.js';\nimport './right.js';",
      'left.ts': "import type { Shared } from './shared.js';\nexport type Left = Shared;",
      'right.ts': "import { shared } from './shared.js';\nexport const right = shared;",
      'shared.ts': 'export type Shared = string;\nexport const shared = 1;',
    });
    expect(status).toBe(1);
    expect(lines).toHaveLength(2);
    expect(lines).toContain('circle of imports: again.ts → against.ts → again.ts');
    expect(lines).toContainEqual(expect.stringMatching(/: (\S+) → \S+ → \S+ → \1$/));
  });

  it('accepts files without a circle, and fails when it finds no files', async () => {
    expect(await check({ 'notes.md': 'none' })).toEqual({ status: 1, lines: ['no files to check'] });
    const files = {
      'a.ts': "import type { B } from './b.js';\nexport type A = B;",
      'b.ts': 'export type B = 1;',
    };
    expect(await check(files)).toEqual({ status: 0, lines: [] });
  });
});
