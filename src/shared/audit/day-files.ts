import { randomBytes } from 'node:crypto';
import { constants, mkdirSync, openSync, writeSync } from 'node:fs';
import { readdir, mkdir, open, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AuditLogger } from './entry.js';
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

/**
 * All files of the log in a folder, oldest first, from a day on; none where there is no such folder. Other files are left
 * alone.
 */
export async function listDayFiles(folder: string, from = ''): Promise<DayFile[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
  return names.sort().flatMap((name) => {
    const day = NAME.exec(name)?.[1];
    return day === undefined || day < from ? [] : [{ day, path: join(folder, name) }];
  });
}

/** Lines of one day. Some of their bytes may be written already. */
export interface DayLines {
  readonly day: string;
  readonly bytes: Buffer;
  written: number;
}

/** Appends lines to the file of their day. Nobody else writes to that file. */
interface DayWriter {
  /** After an error, the same piece goes on where it stopped, so that no line is torn or there twice. */
  readonly append: (piece: DayLines) => Promise<void>;
  /** The same without waiting, when the process ends. */
  readonly appendNow: (piece: DayLines) => void;
  close(): Promise<void>;
}

interface WriterOptions {
  readonly folder: string;
  readonly nameFile: (day: string) => string;
  /** Called when the file of another day is opened. */
  readonly onDay: () => void;
}

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
/** Nothing but appending is asked for. */
const FLAGS = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW;
/** Only the user who runs the service may read the log. */
const FOLDER = { recursive: true, mode: 0o700 };
const FILE_MODE = 0o600;

/** Opens a file of the log for appending, with its folder. */
export async function openDayFile(folder: string, name: string): Promise<FileHandle> {
  await mkdir(dirname(folder), { recursive: true });
  await mkdir(folder, FOLDER);
  return open(join(folder, name), FLAGS, FILE_MODE);
}

export function createDayWriter({ folder, nameFile, onDay }: WriterOptions): DayWriter {
  let file: { readonly day: string; readonly handle: FileHandle } | null = null;
  let underWay: DayLines | null = null;
  const close = async () => {
    const last = file;
    file = null;
    await last?.handle.close();
  };
  const openDay = async (day: string) => {
    if (file?.day === day) return file.handle;
    await close();
    file = { day, handle: await openDayFile(folder, nameFile(day)) };
    onDay();
    return file.handle;
  };
  return {
    append: async (piece) => {
      const handle = await openDay(piece.day);
      while (piece.written < piece.bytes.length) {
        underWay = piece;
        try {
          piece.written += (await handle.write(piece.bytes, piece.written)).bytesWritten;
        } finally {
          underWay = null;
        }
      }
    },
    appendNow: (piece) => {
      // The system ends a write that has begun, also when the process does.
      if (underWay === piece) return;
      mkdirSync(folder, FOLDER);
      const descriptor = openSync(join(folder, nameFile(piece.day)), FLAGS, FILE_MODE);
      while (piece.written < piece.bytes.length)
        piece.written += writeSync(descriptor, piece.bytes, piece.written);
    },
    close,
  };
}

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
interface Retention {
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

/** The size of files together. */
export async function bytesOf(files: readonly DayFile[]): Promise<number> {
  let bytes = 0;
  for (const file of files) bytes += await sizeOf(file);
  return bytes;
}

/** Another process may have removed it by now. */
const sizeOf = ({ path }: DayFile): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );
