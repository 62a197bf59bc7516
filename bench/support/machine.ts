import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

/** What figures were measured on. */
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
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
}
