import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { lstat, mkdir, realpath, stat, copyFile, statfs } from 'node:fs/promises';
import { join, dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { importEngine } from '../../shared/local-models/import-engine.js';
import {
  readModelHeader,
  DamagedModelError,
  type ModelHeader,
} from '../../shared/local-models/model-header.js';
import { modelsDirectoryOf } from '../../shared/local-models/model-files.js';
import { embeddingFileOf, recommendedEmbedding } from '../../shared/local-models/recommended.js';
import { loadSettings, type Environment, type Settings } from '../../shared/settings/load.js';
import { systemErrorCode, onMissing } from '../../shared/system-error-code.js';
import { say, UserError } from '../user-messages.js';
import { lockModel } from '../locks.js';
import { inMegabytes } from './megabytes.js';
import { asUserError } from './pull-errors.js';
import { download, type OnProgress } from './pulling/download.js';
import { draftOf, type Announced, type Draft } from './pulling/drafts.js';
import { parseSource, type ModelSource, type RemoteSource } from './pulling/model-source.js';
import { openRemote, TransferError } from './pulling/open-remote.js';

export interface PullRequest {
  readonly source: string | undefined;
  readonly sha256?: string;
  readonly as?: string;
}

export interface PullOptions extends BringOptions {
  readonly env: Environment;
}

/**
 * Brings a model file into the models folder, under its name only when it is whole.
 * @returns the message for the user
 * @throws UserError
 */
export async function pull(request: PullRequest, options: PullOptions): Promise<string> {
  const { env } = options;
  const settings = loadSettings(env, []);
  const directory = modelsDirectoryOf(settings);
  const sha256 = parseSha256(request.sha256);
  const source = parseSource(request.source ?? recommendedSource(settings), request.as, env);
  try {
    await importEngine();
    await mkdir(directory, { recursive: true });
    const unlock = await lockModel(directory, source.name);
    try {
      const target = { directory: await realpath(directory), sha256 };
      if (await isThere(join(directory, source.name))) await compareWithSource(source, target, options);
      else await bringModel(source, target, options);
    } finally {
      await unlock();
    }
    return await describe(settings, source, directory);
  } catch (error) {
    throw asUserError(error, { source, directory, env, signal: options.signal });
  }
}

function recommendedSource({ models: { language } }: Settings): string {
  const { source, file, megabytes } = recommendedEmbedding[language];
  say(`Taking ${file} (${String(megabytes)} MB), which is recommended for models.language = "${language}".`);
  return source;
}

function parseSha256(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new UserError(`--sha256 ${text}: allowed: 64 hexadecimal digits`);
}

/** @throws UserError for anything but a file */
async function isThere(path: string): Promise<boolean> {
  const status = await lstat(path).catch(onMissing(null));
  if (!status) return false;
  if (status.isFile()) return true;
  throw new UserError(`${path} is there already and is no file, but a link or a folder. Remove it first.`);
}

async function describe(settings: Settings, { name }: ModelSource, directory: string): Promise<string> {
  const path = join(directory, name);
  const status = await lstat(path);
  const header = await readModelHeader({ name, path, status });
  return [
    `${name} (${inMegabytes(status.size)} MB, ${header.kind}, window ${String(header.window)}) is in ${directory}`,
    ...adviceFor(settings, name, header),
  ].join('\n');
}

/** The lines of quire.toml that make use of the model. */
function adviceFor(settings: Settings, name: string, { kind }: ModelHeader): string[] {
  const isNamed = embeddingFileOf(settings) === name;
  switch (kind) {
    case 'embedding':
      return [
        `  try it     npx quire models test ${name}`,
        `  use it     embedder = "local"${isNamed ? '' : `, and in [embedding]: model = "${name}"`}`,
      ];
    case 'chat':
      return [
        `  try it     npx quire models test ${name}`,
        `  use it     completer = "local", and in [completion]: model = "${name}"`,
      ];
    case 'ranking':
      return [
        `  try it     npx quire models test ${name}`,
        `  use it     reranker = "local", and in [reranking]: model = "${name}"`,
      ];
  }
}

/**
 * Makes sure that the existing file of that name is the requested one.
 * @throws UserError when it is another one
 */
async function compareWithSource(
  source: ModelSource,
  target: Target,
  { signal, patienceMs = PATIENCE_MS }: BringOptions,
): Promise<void> {
  const path = join(target.directory, source.name);
  const wanted =
    'path' in source
      ? { size: (await stat(source.path)).size, sha256: await hashFile(source.path, signal) }
      : await ask(source.remote, target, { signal, patienceMs });
  const { size } = await stat(path);
  const sha256 = target.sha256 ?? wanted?.sha256 ?? null;
  const isSame =
    (wanted === null || wanted.size === size) &&
    (sha256 === null || (await hashFile(path, signal)) === sha256);
  if (isSame) return;
  throw new UserError(
    `Another file of the name ${source.name} is there. Run npx quire models remove ${source.name} first, or give this one another name with --as.`,
  );
}

/** Asks the source for the facts about its file; null when it cannot be reached. */
async function ask(
  remote: RemoteSource,
  target: Target,
  { signal, patienceMs }: { readonly signal: AbortSignal; readonly patienceMs: number },
) {
  // Aborted at the end in any case, since nobody reads the body.
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new TransferError('the source is silent')), patienceMs);
  try {
    const opened = await openRemote(remote, 0, AbortSignal.any([signal, controller.signal]));
    if (!opened) return null;
    checkAnnounced(opened.announced, target);
    return opened.announced;
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    say(`${error.message}: what is there was not compared with it.`);
    return null;
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

/** The time for which a server may send nothing. */
const PATIENCE_MS = 30_000;

interface BringOptions {
  readonly signal: AbortSignal;
  readonly output: ProgressOutput;
  /** The time for which a server may send nothing; 30 seconds by default. */
  readonly patienceMs?: number;
  /** The pause before a broken connection is opened again; a second, and more each time. */
  readonly pauseMs?: number;
}

interface Target {
  readonly directory: string;
  /** The hash that the file must have, in hexadecimal digits; null where the user does not say. */
  readonly sha256: string | null;
}

/**
 * Brings a model into the folder: into a draft, which gets the name of the model when it has been checked.
 * @throws UserError, TransferError
 */
async function bringModel(source: ModelSource, target: Target, options: BringOptions): Promise<void> {
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
  readonly onProgress: OnProgress;
}

function fetchModel(remote: RemoteSource, { draft, target, onProgress }: Fetching, options: BringOptions) {
  return download(remote, draft, {
    signal: options.signal,
    patienceMs: options.patienceMs ?? PATIENCE_MS,
    pauseMs: options.pauseMs ?? 1_000,
    onProgress,
    onAnnounced: async (announced, done) => {
      checkAnnounced(announced, target);
      await assertRoom(target.directory, announced.size - done);
    },
  });
}

/** @throws UserError when the source has another file than was asked for */
function checkAnnounced({ sha256 }: Announced, { sha256: wanted }: Target): void {
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
  readonly onProgress: OnProgress;
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
    const { signal } = options;
    const parts: AsyncIterable<unknown> = createReadStream(path, { highWaterMark: 1024 ** 2, signal });
    for await (const bytes of parts) {
      if (!Buffer.isBuffer(bytes)) throw new TypeError('a stream without an encoding yields bytes');
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
    const code = systemErrorCode(error);
    const cannot = ['ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EINVAL', 'ENOSYS', 'ENOTTY', 'EPERM'];
    if (cannot.some((each) => each === code)) return false;
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
  readonly show: OnProgress;
  /** Ends the line of the bar. */
  readonly end: () => void;
}

const BAR_MS = 100;
const LINE_MS = 10_000;
const BAR_CELLS = 24;

/** Shows how far a download is: a bar that moves in a terminal, else a line now and then. */
function showProgress(output: ProgressOutput): ShownProgress {
  const pauseMs = output.isTTY === true ? BAR_MS : LINE_MS;
  let first: { at: number; done: number } | null = null;
  let shownAt = -Infinity;
  let isOpen = false;
  return {
    show: (done, total) => {
      const at = performance.now();
      first ??= { at, done };
      if (at - shownAt < pauseMs && done < total) return;
      shownAt = at;
      const speed = at > first.at ? ((done - first.done) * 1_000) / (at - first.at) : 0;
      const text = progressText(done, total, speed);
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
function progressText(done: number, total: number, bytesPerSecond: number): string {
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
async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 ** 2 }), hash, { signal });
  return hash.digest('hex');
}
