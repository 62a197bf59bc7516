import { rm, stat } from 'node:fs/promises';
import { dayOf, listDayFiles, type DayFile } from './day-files.js';
import type { AuditLogger } from './entry.js';

const MINUTE_MILLISECONDS = 60_000;
const DAY_MILLISECONDS = 86_400_000;

interface RetentionOptions {
  readonly folder: string;
  readonly keepDays: number;
  /** The greatest size of all files of the folder together. */
  readonly maxBytes: number;
  readonly logger: Pick<AuditLogger, 'warn'>;
  readonly now: () => number;
}

/** Removes files that are old, or that there is no room for, once a minute. Several processes may do so at once. */
export interface Retention {
  look(): Promise<void>;
  /** Tells whether the files of today, which are never removed, are too large already. */
  readonly isFull: () => boolean;
  close(): void;
}

export function createRetention({ folder, keepDays, maxBytes, logger, now }: RetentionOptions): Retention {
  let isFull = false;
  const look = async () => {
    const today = dayOf(now());
    const kept = await removeOld(folder, dayOf(now() - keepDays * DAY_MILLISECONDS));
    // Nobody need ask how large they are.
    if (maxBytes === Infinity) return;
    const { removed, bytes } = await removeBeyond(maxBytes, kept, today);
    isFull = bytes > maxBytes;
    if (removed > 0)
      logger.warn({ folder, removed }, 'the oldest files of the audit log are removed: it is too large');
  };
  // One look at a time: a disk may not answer for long.
  let looking: Promise<void> | null = null;
  const lookOnce = () =>
    (looking ??= look()
      .catch((error: unknown) => {
        logger.warn({ err: error }, 'old files of the audit log are not removed');
      })
      .finally(() => {
        looking = null;
      }));
  const timer = setInterval(() => void lookOnce(), MINUTE_MILLISECONDS).unref();
  return { look: lookOnce, isFull: () => isFull, close: () => clearInterval(timer) };
}

/** Removes the files of days before `oldest`. @returns the others */
async function removeOld(folder: string, oldest: string): Promise<DayFile[]> {
  const files = await listDayFiles(folder);
  for (const { day, path } of files) if (day < oldest) await rm(path, { force: true });
  return files.filter(({ day }) => day >= oldest);
}

/** Removes the oldest of these files until they are small enough, of today none, since they are being written. */
async function removeBeyond(maxBytes: number, files: readonly DayFile[], today: string) {
  const sized: { readonly file: DayFile; readonly size: number }[] = [];
  for (const file of files) sized.push({ file, size: await sizeOf(file) });
  let bytes = sized.reduce((sum, { size }) => sum + size, 0);
  let removed = 0;
  for (const { file, size } of sized) {
    if (bytes <= maxBytes || file.day >= today) break;
    await rm(file.path, { force: true });
    bytes -= size;
    removed += 1;
  }
  return { bytes, removed };
}

/** Another process may have removed it by now. */
const sizeOf = ({ path }: DayFile): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );
