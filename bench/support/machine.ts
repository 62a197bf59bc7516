import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { residentMegabytes as memoryOf } from '../../test/support/processes.js';
import { round } from './client.js';

/** The machine on which figures were measured. */
export function describeMachine() {
  const [first] = cpus();
  return {
    cores: cpus().length,
    model: first?.model ?? 'unknown',
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
}

/** Resident memory of a process in MB, from the kernel. */
export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024, 1);
}

/** Memory of a process and of all that it has started, in MB. */
export async function familyMemory(pid: number) {
  const family = [pid];
  // The list grows while it is walked.
  for (const each of family) family.push(...childrenOf(each));
  return Promise.all(
    family.map(async (each) => {
      const { whole, shared } = await memoryOf(each);
      return { name: nameOf(each), rssMb: round(whole, 1), pssMb: round(shared, 1) };
    }),
  );
}

function childrenOf(pid: number): number[] {
  const id = String(pid);
  return readFileSync(`/proc/${id}/task/${id}/children`, 'utf8')
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .map(Number);
}

/** The program of a process and its arguments, without folders. */
function nameOf(pid: number): string {
  const [program = '', ...rest] = readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').split('\0');
  const parts = [program, ...rest].filter(
    (part) => part !== '' && !part.endsWith('/node') && part !== 'node',
  );
  return parts
    .map((part) => part.split('/').slice(-2).join('/'))
    .join(' ')
    .slice(0, 60);
}
