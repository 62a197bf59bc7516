import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { stat, copyFile, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { DamagedModelError, readModelHeader } from '../../../shared/local-models/model-header.js';
import { systemErrorCode } from '../../../shared/system-error-code.js';
import { UserError } from '../../user-messages.js';
import { inMegabytes } from '../megabytes.js';
import { download } from './download.js';
import { draftOf, type Announced, type Draft } from './drafts.js';
import type { ModelSource, RemoteSource } from './model-source.js';

export interface BringOptions {
  readonly signal: AbortSignal;
  readonly output: ProgressOutput;
  /** The time for which a server may send nothing; 30 seconds by default. */
  readonly patienceMs?: number;
  /** The pause before a broken connection is opened again; a second, and more each time. */
  readonly pauseMs?: number;
}

export interface Target {
  readonly directory: string;
  /** The hash that the file must have, in hexadecimal digits; null where the user does not say. */
  readonly sha256: string | null;
}

/**
 * Brings a model into the folder: into a draft, which gets the name of the model when it has been checked.
 * @throws UserError, TransferError
 */
export async function bringModel(source: ModelSource, target: Target, options: BringOptions): Promise<void> {
  const draft = draftOf(target.directory, source.name);
  const shown = showProgress(options.output);
  try {
    if ('path' in source) {
      await copyModel(source.path, draft, { signal: options.signal, onProgress: shown.show });
      await checkHash(draft, target.sha256, () => hashFile(draft.path, options.signal));
    } else {
      const fetched = await fetchModel(source.remote, { draft, target, onProgress: shown.show }, options);
      await checkHash(draft, target.sha256 ?? fetched.announced.sha256, () => fetched.sha256);
    }
  } finally {
    shown.end();
  }
  await checkModel(draft, source.name);
  await draft.publish();
}

interface Fetching {
  readonly draft: Draft;
  readonly target: Target;
  readonly onProgress: (done: number, total: number) => void;
}

function fetchModel(remote: RemoteSource, { draft, target, onProgress }: Fetching, options: BringOptions) {
  return download(remote, draft, {
    signal: options.signal,
    patienceMs: options.patienceMs ?? 30_000,
    pauseMs: options.pauseMs ?? 1_000,
    onProgress,
    onAnnounced: async (announced, done) => {
      checkAnnounced(announced, target);
      await assertRoom(target.directory, announced.size - done);
    },
  });
}

/** @throws UserError when the source has another file than was asked for */
export function checkAnnounced({ sha256 }: Announced, { sha256: wanted }: Target): void {
  if (wanted !== null && sha256 !== null && sha256 !== wanted)
    throw new UserError(`The source has a file of another SHA-256: ${sha256}`);
}

async function checkHash(
  draft: Draft,
  wanted: string | null,
  hash: () => string | Promise<string>,
): Promise<void> {
  if (wanted === null) return;
  const actual = await hash();
  if (actual === wanted) return;
  await draft.remove();
  throw new UserError(
    `What came is not the file: its SHA-256 is ${actual} instead of ${wanted}. It was removed.`,
  );
}

async function checkModel(draft: Draft, name: string): Promise<void> {
  try {
    await readModelHeader({ name, path: draft.path, status: await stat(draft.path) });
  } catch (error) {
    if (!(error instanceof DamagedModelError)) throw error;
    await draft.remove();
    throw new UserError(`What came ${error.message}. It was removed.`, { cause: error });
  }
}

interface CopyOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Copies a file of this machine into a draft; where the file system can, the two share their blocks until one is changed.
 * Never a link: later changes of the file must not change the model.
 * @throws UserError
 */
async function copyModel(path: string, draft: Draft, options: CopyOptions): Promise<void> {
  const size = await sizeOfFile(path);
  await draft.remove();
  if (await cloneFile(path, draft.path)) return;
  await assertRoom(dirname(draft.path), size);
  const handle = await draft.openToAppend();
  try {
    let done = 0;
    for await (const part of createReadStream(path, { highWaterMark: 1024 ** 2, signal: options.signal })) {
      // @NOTE a stream without an encoding yields buffers, which its type does not say
      const bytes = part as Buffer;
      await handle.appendFile(bytes);
      done += bytes.length;
      options.onProgress(done, size);
    }
  } finally {
    await handle.close();
  }
}

async function sizeOfFile(path: string): Promise<number> {
  try {
    const status = await stat(path);
    if (status.isFile()) return status.size;
    throw new UserError(`${path} is no file.`);
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error;
    throw new UserError(
      `There is no file ${path}. Models of Hugging Face are named like this: hf:user/repo:file.gguf`,
    );
  }
}

/** @returns false where the file system cannot let two files share their blocks */
async function cloneFile(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    const cannot = ['ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EINVAL', 'ENOSYS', 'ENOTTY', 'EPERM'];
    if (cannot.includes(systemErrorCode(error) ?? '')) return false;
    throw error;
  }
}

/** The output that shows a progress: a terminal, or anything else that takes lines. */
interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

interface ShownProgress {
  readonly show: (done: number, total: number) => void;
  /** Ends the line of the bar. */
  readonly end: () => void;
}

const BAR_MS = 100;
const LINE_MS = 10_000;
const BAR_CELLS = 24;

/** Shows how far a download is: a bar that moves in a terminal, else a line now and then. */
function showProgress(output: ProgressOutput, now: () => number = () => performance.now()): ShownProgress {
  const pauseMs = output.isTTY === true ? BAR_MS : LINE_MS;
  let first: { at: number; done: number } | null = null;
  let shownAt = -Infinity;
  let isOpen = false;
  return {
    show: (done, total) => {
      const at = now();
      first ??= { at, done };
      if (at - shownAt < pauseMs && done < total) return;
      shownAt = at;
      const speed = at > first.at ? ((done - first.done) * 1_000) / (at - first.at) : 0;
      const text = describe(done, total, speed);
      if (output.isTTY !== true) {
        output.write(`${text}\n`);
        return;
      }
      isOpen = true;
      output.write(`\r${`${bar(done / total)} ${text}`.slice(0, (output.columns ?? 80) - 1)}\u001b[K`);
    },
    end: () => {
      if (isOpen) output.write('\n');
      isOpen = false;
    },
  };
}

function bar(share: number): string {
  const full = Math.floor(share * BAR_CELLS);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_CELLS - full)}]`;
}

/** `42 %, 15.6 of 37.1 MB, 3.1 MB/s, 7 s left` */
function describe(done: number, total: number, bytesPerSecond: number): string {
  const percent = `${String(Math.floor((100 * done) / total))} %`;
  const parts = [percent, `${inMegabytes(done)} of ${inMegabytes(total)} MB`];
  if (bytesPerSecond === 0) return parts.join(', ');
  const left = Math.ceil((total - done) / bytesPerSecond);
  return [...parts, `${inMegabytes(bytesPerSecond)} MB/s`, `${String(left)} s left`].join(', ');
}

/** The bytes that are left free for everything else that writes there. */
const SPARE_BYTES = 64 * 1024 ** 2;

/** @throws UserError when the file system of a folder has no room for this many bytes and some more */
async function assertRoom(directory: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free >= bytes + SPARE_BYTES) return;
  throw new UserError(
    `${directory} has ${inMegabytes(free)} MB free. ${inMegabytes(bytes + SPARE_BYTES)} MB are needed, a reserve included.`,
  );
}

/** The SHA-256 of a file in hexadecimal digits. */
export async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 ** 2 }), hash, { signal });
  return hash.digest('hex');
}
