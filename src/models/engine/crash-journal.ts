import { rm, writeFile } from 'node:fs/promises';
import {
  pausedUntil,
  readLoadCrashes,
  type LoadCrash,
  type LoadCrashes,
} from '../../shared/local-models/load-crashes.js';

/**
 * Remembers the model file that is being loaded, so that a file that ends the whole process while it loads is known at the
 * next start. Without it, such a file would end the process again with every request.
 */
export interface CrashJournal {
  /**
   * Returns the number of loads of the file that ended the process, and the time until which it is not tried again; null
   * where it may be loaded.
   */
  pauseOf(fingerprint: string): { readonly crashes: number; readonly until: Date } | null;
  /** Notes that the file is being loaded, until the task has ended. */
  during<Result>(fingerprint: string, task: () => Promise<Result>): Promise<Result>;
}

export async function openCrashJournal(path: string): Promise<CrashJournal> {
  let known: LoadCrashes = {};
  const write = async (next: LoadCrashes) => {
    known = next;
    if (Object.keys(next).length === 0) await rm(path, { force: true });
    else await writeFile(path, JSON.stringify(next), { mode: 0o600 });
  };
  await write(withLastCrash(await readLoadCrashes(path)));
  return {
    pauseOf: (fingerprint) => {
      const entry = known[fingerprint];
      const until = entry && pausedUntil(entry);
      return until ? { crashes: entry.crashes, until } : null;
    },
    during: async (fingerprint, task) => {
      const { [fingerprint]: before, ...others } = known;
      await write({
        ...others,
        [fingerprint]: { crashes: before?.crashes ?? 0, at: Date.now(), isLoading: true },
      });
      try {
        return await task();
      } finally {
        // An error is no crash: the process lives.
        await write(others);
      }
    },
  };
}

/** Counts a crash for the file that was being loaded when the process before this one ended. */
function withLastCrash(known: LoadCrashes): LoadCrashes {
  const entries = Object.entries(known).map(([fingerprint, entry]): [string, LoadCrash] => [
    fingerprint,
    entry.isLoading ? { crashes: entry.crashes + 1, at: Date.now(), isLoading: false } : entry,
  ]);
  return Object.fromEntries(entries);
}
