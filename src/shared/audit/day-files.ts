import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '../system-error-code.js';

const NAME = /^(\d{4}-\d{2}-\d{2})\.[\w-]+\.[\da-f]{8}\.jsonl$/;

/** The day of a time in UTC, such as `2026-01-31`. */
export const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

/** Names the files of a process by their days. Processes of other containers, too, have others. */
export function nameFiles(process: string): (day: string) => string {
  const suffix = `${process.replace(/[^\w-]/g, '-').slice(0, 100)}.${randomBytes(4).toString('hex')}.jsonl`;
  return (day) => `${day}.${suffix}`;
}

export interface DayFile {
  readonly day: string;
  readonly path: string;
}

/** All files of the log in a folder, oldest first; none where there is no such folder. Other files are left alone. */
export async function listDayFiles(folder: string): Promise<DayFile[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
  return names.sort().flatMap((name) => {
    const day = NAME.exec(name)?.[1];
    return day === undefined ? [] : [{ day, path: join(folder, name) }];
  });
}
