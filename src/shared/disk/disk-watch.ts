import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../errors.js';
import type { Logger } from '../observability/logger.js';
import type { Settings } from '../settings/schema.js';
import { shareResult } from '../tools/coalesce-runs.js';

/** The file system of a folder that is written, in bytes. */
export interface DiskState {
  /** The bytes that are free for us. */
  readonly free: number;
  /**
   * The free bytes below which nothing is written that can wait. The rest is for removals, and for Redis when it rewrites
   * its file.
   */
  readonly least: number;
  /** The bytes of that for Redis. */
  readonly rewrite: number;
}

/** Looks at a disk twenty times a second at most, however many ask. */
export interface DiskWatch {
  /** The name for operators and callers, such as `data`. */
  readonly disk: string;
  readonly state: () => Promise<DiskState>;
  readonly isShort: () => Promise<boolean>;
  /** @throws UnavailableError while too little is free, or would be with so many bytes more */
  readonly requireRoom: (bytes?: number) => Promise<void>;
}

export interface DiskWatchOptions {
  readonly disk: string;
  /**
   * Folders on it. Where they lie on several, the fullest counts. One that does not exist, yet or any more, is told of by
   * whatever writes there.
   */
  readonly directories: readonly string[];
  /** The bytes that stay free in any case. */
  readonly spare: number;
  /** The folder of Redis' data, if it is on this machine. */
  readonly redisDirectory: string | null;
  /** Called when it becomes short, and when it has room again. */
  readonly onChange: (isShort: boolean, state: DiskState) => void;
}

const KNOWN_MILLISECONDS = 50;
const RETRY_SECONDS = 30;
const PATIENCE_MILLISECONDS = 1_000;
const UNKNOWN: DiskState = { free: Infinity, least: 0, rewrite: 0 };

export function createDiskWatch(options: DiskWatchOptions): DiskWatch {
  const { disk } = options;
  // A disk may not answer at all, such as one of a server that is away.
  const limits = { milliseconds: PATIENCE_MILLISECONDS, otherwise: UNKNOWN };
  const state = shareResult(
    KNOWN_MILLISECONDS,
    askOneAtATime(() => look(options), limits),
  );
  let wasShort = false;
  const isShort = async () => {
    const now = await state();
    const isNow = now.free < now.least;
    if (isNow !== wasShort) options.onChange(isNow, now);
    wasShort = isNow;
    return isNow;
  };
  return {
    disk,
    state,
    isShort,
    requireRoom: async (bytes = 0) => {
      const { free, least } = await state();
      if (!(await isShort()) && free - bytes >= least) return;
      throw new UnavailableError(`room on the disk (${disk})`, { retryAfterSeconds: RETRY_SECONDS });
    },
  };
}

async function look({ directories, spare, redisDirectory }: DiskWatchOptions): Promise<DiskState> {
  const states = await Promise.all(
    directories.map(async (directory) => {
      const isOfRedis = redisDirectory !== null && (await areTogether(directory, redisDirectory));
      const rewrite = isOfRedis ? await rewriteBytes(redisDirectory) : 0;
      return { free: await freeBytes(directory), least: spare + rewrite, rewrite };
    }),
  );
  return states.reduce((worst, each) => (each.free - each.least < worst.free - worst.least ? each : worst));
}

/** Returns the bytes of a folder's file system that are free for this user; infinite where that cannot be found out. */
async function freeBytes(directory: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}

async function areTogether(one: string, other: string): Promise<boolean> {
  try {
    const [first, second] = await Promise.all([stat(one), stat(other)]);
    return first.dev === second.dev;
  } catch {
    return false;
  }
}

/**
 * Returns the bytes that Redis needs beside its append-only files while it rewrites them: at most their size, since it
 * leaves out removed data.
 */
async function rewriteBytes(redisDirectory: string): Promise<number> {
  // Before version 7, Redis keeps one file and no folder.
  const names = await namesIn(redisDirectory, (name) => name.startsWith('appendonly.aof'));
  const paths = [...names, ...(await namesIn(join(redisDirectory, 'appendonlydir'), () => true))];
  // One that is being replaced at this moment is counted next time.
  const sizes = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function namesIn(folder: string, isWanted: (name: string) => boolean): Promise<string[]> {
  try {
    return (await readdir(folder)).filter(isWanted).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/**
 * Calls `read` only when it has answered before, so that a disk that does not answer keeps one thread waiting and not all
 * of them. Callers get `otherwise` after a while.
 */
export function askOneAtATime<Result>(
  read: () => Promise<Result>,
  { milliseconds, otherwise }: { readonly milliseconds: number; readonly otherwise: Result },
): () => Promise<Result> {
  let pending: Promise<Result> | null = null;
  return () => {
    pending ??= read().finally(() => {
      pending = null;
    });
    return Promise.race([pending, sleep(milliseconds, otherwise, { ref: false })]);
  };
}

/** The disks of this machine that Quire fills. */
export interface Disks {
  /** The disk of the data folder: source files and saved states. */
  readonly data: DiskWatch;
  /** The disk of the folder of Redis' data; null where that is not on this machine, or not known. */
  readonly redis: DiskWatch | null;
  readonly all: readonly DiskWatch[];
}

export function openDisks({ dataDirectory, disk, redis }: Settings, logger: Logger): Disks {
  const redisDirectory = redis.directory === '' ? null : redis.directory;
  const spare = disk.minFreeMegabytes * 2 ** 20;
  const open = (name: string, ...directories: [string, ...string[]]) =>
    createDiskWatch({
      disk: name,
      directories,
      spare,
      redisDirectory,
      onChange: (isShort, state) => {
        const change = isShort ? 'disk nearly full: only what removes is taken' : 'disk has room again';
        logger.warn({ disk: name, directories, ...state }, change);
      },
    });
  // Either may be a disk of its own.
  const written = ['objects', 'states'].map((folder) => join(dataDirectory, folder));
  const data = open('data', dataDirectory, ...written);
  const ofRedis = redisDirectory === null ? null : open('redis', redisDirectory);
  return { data, redis: ofRedis, all: ofRedis ? [data, ofRedis] : [data] };
}
