import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { systemErrorCode } from '../../shared/system-error-code.js';

/**
 * Remembers which model file is being loaded, so that one that ends the whole process while it loads is known at the next
 * start. Without it, such a file would end the process again with every request.
 */
export interface CrashJournal {
  /** Whether loading the file has ended a process twice. It may be tried again once its content has changed. */
  hasCrashed(fingerprint: string): boolean;
  /** Notes that the file is loaded until the task has ended. */
  during<Result>(fingerprint: string, task: () => Promise<Result>): Promise<Result>;
}

/** The first end may have been a kill by the operator or for memory. */
const MAX_CRASHES = 2;
const NAME = '.crashes.json';
const crashesSchema = z.record(z.string(), z.int().nonnegative());

export async function openCrashJournal(directory: string): Promise<CrashJournal> {
  const path = join(directory, NAME);
  let crashes = await readCrashes(path);
  const write = async (next: Record<string, number>) => {
    crashes = next;
    if (Object.keys(next).length === 0) await rm(path, { force: true });
    else {
      await mkdir(directory, { recursive: true });
      await writeFile(path, JSON.stringify(next), { mode: 0o600 });
    }
  };
  return {
    hasCrashed: (fingerprint) => (crashes[fingerprint] ?? 0) >= MAX_CRASHES,
    during: async (fingerprint, task) => {
      await write({ ...crashes, [fingerprint]: (crashes[fingerprint] ?? 0) + 1 });
      try {
        return await task();
      } finally {
        // An error is no crash: the process lives.
        const { [fingerprint]: _, ...others } = crashes;
        await write(others);
      }
    },
  };
}

async function readCrashes(path: string): Promise<Record<string, number>> {
  try {
    return crashesSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError)
      return {};
    throw error;
  }
}
