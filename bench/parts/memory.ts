import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/redis.js';
import { inheritedEnvironment, startProcess } from '../../test/support/service.js';
import { round } from '../support/client.js';
import { familyMemory } from '../support/machine.js';
import type { Measured } from './goals.js';

/** After this time nothing of the start goes on any more. */
const UNTIL_IDLE_MS = 10_000;
const READY_TRIES = 600;

/**
 * Measures the memory of all processes of `npm start` while nothing is asked of them: its supervisor, API, workers and
 * Redis.
 */
export async function measureIdleMemory() {
  const folder = await mkdtemp(join(tmpdir(), 'quire-idle-'));
  const port = String(await freePort());
  const own = { PORT: port, HOST: '127.0.0.1', QUIRE_DEV_MODE: 'true', QUIRE_DATA_DIR: folder };
  const service = startProcess('cli/main.js', ['up'], {
    env: { ...inheritedEnvironment(), ...own },
    execArgv: [],
  });
  try {
    for (let tries = 0; !(await isReady(port)); tries += 1) {
      if (tries === READY_TRIES || service.child.exitCode !== null)
        throw new Error(`the service did not become ready: ${service.output().slice(-2_000)}`);
      await sleep(100);
    }
    await sleep(UNTIL_IDLE_MS);
    const processes = await familyMemory(service.child.pid ?? 0);
    const sum = (of: 'rssMb' | 'pssMb') =>
      round(
        processes.reduce((all, each) => all + each[of], 0),
        0,
      );
    const total = { name: 'all', rssMb: sum('rssMb'), pssMb: sum('pssMb') };
    console.log('idle memory: Rss counts shared pages in each process, Pss divides them among the processes');
    console.table([...processes, total]);
    const measured: Measured = { 'idle memory': { value: total.rssMb } };
    return { figures: { processes, total }, measured };
  } finally {
    await service.kill('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  }
}

async function isReady(port: string): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => null);
  return response?.status === 200;
}
