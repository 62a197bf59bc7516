import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { onMissing } from '../system-error-code.js';

const crashesSchema = z.record(
  z.string(),
  z.object({
    /** The number of times that the process ended while it loaded the file. */
    crashes: z.int().nonnegative(),
    /** When it was noticed last, in milliseconds since 1970. */
    at: z.int().nonnegative(),
    /** True if the file is being loaded, or was when the process ended. */
    isLoading: z.boolean(),
  }),
);
/** By the fingerprint of the model file. */
export type LoadCrashes = z.infer<typeof crashesSchema>;
export type LoadCrash = LoadCrashes[string];

/** In the data folder, which each process with local models has for itself; the models may be everybody's, or read-only. */
export const loadCrashesPath = (dataDirectory: string): string => join(dataDirectory, 'load-crashes.json');

/** Reads the crashes. An unreadable file counts as empty: a process that was killed may have been writing it. */
export async function readLoadCrashes(path: string): Promise<LoadCrashes> {
  const text = await readFile(path, 'utf8').catch(onMissing('{}'));
  try {
    return crashesSchema.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return {};
    throw error;
  }
}

const FIRST_PAUSE_MILLISECONDS = 60_000;
const MAX_PAUSE_MILLISECONDS = 3_600_000;

/**
 * Returns the time at which a file may be loaded again; null: at once. One crash may have been a kill by an operator or for
 * memory. From the second on a pause follows each, twice as long as the one before. So a file which ends the process at
 * every request does so once an hour at most, and a sound one that was unlucky is not shut out for good.
 */
export function pausedUntil({ crashes, at }: LoadCrash, now = Date.now()): Date | null {
  if (crashes < 2) return null;
  const pause = Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** (crashes - 2), MAX_PAUSE_MILLISECONDS);
  // A clock that was set back must not make the pause longer.
  const end = Math.min(at, now) + pause;
  return end > now ? new Date(end) : null;
}
