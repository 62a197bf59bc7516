import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isListening } from '../../../src/shared/tools/is-listening.js';

const LISTENER = `
require('node:net').createServer((socket) => socket.destroy()).listen(process.argv[1], () => console.log('listens'));
`;

const isOnLinux = process.platform === 'linux';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-listening-'));
});

afterEach(() => rm(folder, { recursive: true }));

describe('a process that listens', () => {
  it('is told from one that ended, and from none', async () => {
    const path = join(folder, 'alive');
    expect(await isListening(path)).toBe(false);
    const listener = await startListener(path);
    expect(await isListening(path)).toBe(true);
    listener.kill('SIGKILL');
    await once(listener, 'exit');
    expect(await isListening(path)).toBe(false);
  });

  (isOnLinux ? it : it.skip)('is not one that ends while the question waits for it', async () => {
    const path = join(folder, 'alive');
    const listener = await startListener(path);
    // A stopped process leaves the connection waiting, so that its end resets it.
    listener.kill('SIGSTOP');
    untilIn(listener.pid, ['T']);
    const answer = isListening(path);
    listener.kill('SIGKILL');
    untilIn(listener.pid, ['Z', 'X']);
    expect(await answer).toBe(false);
  });
});

async function startListener(path: string) {
  const child = spawn(process.execPath, ['-e', LISTENER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

/** Waits, without a turn of the event loop, until all threads of a process are in one of these states. */
function untilIn(pid: number | undefined, states: readonly string[]): void {
  const tasks = `/proc/${String(pid)}/task`;
  const stateOf = (task: string) =>
    /\) (\w)/.exec(readFileSync(join(tasks, task, 'stat'), 'utf8'))?.[1] ?? '';
  for (;;) {
    try {
      if (readdirSync(tasks).every((task) => states.includes(stateOf(task)))) return;
    } catch {
      // A thread has ended between the list and its state.
    }
  }
}
