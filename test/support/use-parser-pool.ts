import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { chooseLaunch } from '../../src/workers/parse/confinement/choose-launch.js';
import { openWorkspace } from '../../src/workers/parse/confinement/workspace.js';
import { createParserPool, type ParserPool, type ParserPoolOptions } from '../../src/workers/parse/pool.js';

/** Lets each test start a pool of its own, with options of its own, which is closed after it. */
export function useParserPool() {
  let place: Pick<ParserPoolOptions, 'workspace' | 'launch'>;
  let directory = '';
  let pool: ParserPool | undefined;
  beforeAll(async () => {
    const workspace = await openWorkspace();
    const user = { uid: 65_534, gid: 65_534 };
    place = { workspace, launch: await chooseLaunch({ user, workspace }) };
  });
  afterAll(() => place.workspace.close());
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quire-pool-'));
  });
  afterEach(async () => {
    await pool?.close();
    await rm(directory, { recursive: true, force: true });
  });
  return {
    startPool: (options: Partial<ParserPoolOptions> = {}): ParserPool => {
      pool = createParserPool({
        size: 1,
        idleMilliseconds: 60_000,
        memoryMegabytes: 1_536,
        timeoutMilliseconds: 20_000,
        maxChunks: 20_000,
        chunk: { size: 512, overlap: 64 },
        ...place,
        ...options,
      });
      return pool;
    },
    /** Writes a file for a pool, and resolves with its path. */
    file: async (content: string | Uint8Array): Promise<string> => {
      const path = join(directory, `file-${String(Math.random())}`);
      await writeFile(path, content);
      return path;
    },
  };
}

/** Process ids of the children of this process that run the parser, or another script in its stead. */
export function parserChildren(script = 'parse/child-main.js'): number[] {
  const processes = execFileSync('ps', ['-o', 'pid=,ppid=,args=', '-A'], { encoding: 'utf8' });
  return processes.split('\n').flatMap((line) => {
    const [, id = '', parent = '', command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return parent === String(process.pid) && command.includes(script) ? [Number(id)] : [];
  });
}
