import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { StartedProcess } from './service.js';

/** Ids of the parser processes that the worker with an id has started. */
export async function parsersOf(worker: number): Promise<number[]> {
  const id = String(worker);
  const children = await readFile(`/proc/${id}/task/${id}/children`, 'utf8');
  return children.trim().split(/\s+/).filter(Boolean).map(Number);
}

/** Whether the process with an id is there. */
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

/** In which the kernel counts. */
const TICKS_PER_SECOND = 100;

/** Seconds that a process has had of the processor. */
export async function processorSeconds(id: number): Promise<number> {
  const stat = await readFile(`/proc/${String(id)}/stat`, 'utf8');
  // The name before may have blanks in it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Waits for a process to end by itself; its exit code, and what it said. */
export async function endOf(started: StartedProcess): Promise<[number | null, string]> {
  const { child } = started;
  if (child.exitCode === null) await once(child, 'exit');
  return [child.exitCode, started.output()];
}
