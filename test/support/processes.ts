import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { StartedProcess } from './service.js';

/** Ids of the parser processes that the worker with an id has started. */
export async function parsersOf(worker: number): Promise<number[]> {
  const id = String(worker);
  const children = await readFile(`/proc/${id}/task/${id}/children`, 'utf8');
  return children.trim().split(/\s+/).filter(Boolean).map(Number);
}

/** Tells whether the process with an id is there. */
export function isRunning(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
}

/** Bytes of memory that a process takes. */
export async function residentBytes(id: number): Promise<number> {
  const status = await readFile(`/proc/${String(id)}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

/** The ticks in which the kernel counts. */
const TICKS_PER_SECOND = 100;

/** Seconds that a process has had of the processor. */
export async function processorSeconds(id: number): Promise<number> {
  return (await readTimes(id)).own;
}

/** The same of a process and all the children that it has had. */
export async function processorSecondsOfFamily(id: number): Promise<number> {
  const children = await parsersOf(id);
  const times = await Promise.all(children.map((child) => processorSeconds(child).catch(() => 0)));
  const { own, ended } = await readTimes(id);
  return times.reduce((sum, each) => sum + each, own + ended);
}

/** `ended`: of its children that have ended. */
async function readTimes(id: number): Promise<{ own: number; ended: number }> {
  const stat = await readFile(`/proc/${String(id)}/stat`, 'utf8');
  // The name before may have blanks in it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number);
  return { own: (user + system) / TICKS_PER_SECOND, ended: (endedUser + endedSystem) / TICKS_PER_SECOND };
}

/** Megabytes of memory that a process takes: `shared` divides what it shares with others among them. */
export async function residentMegabytes(id: number): Promise<{ whole: number; shared: number }> {
  const rollup = await readFile(`/proc/${String(id)}/smaps_rollup`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(rollup)?.[1]) / 1024;
  return { whole: field('Rss'), shared: field('Pss') };
}

/** Waits for a process to end by itself; its exit code, and what it said. */
export async function endOf(started: StartedProcess): Promise<[number | null, string]> {
  const { child } = started;
  if (child.exitCode === null) await once(child, 'exit');
  return [child.exitCode, started.output()];
}
