import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../user-messages.js';
import type { Announced, Draft } from './drafts.js';
import type { RemoteSource } from './model-source.js';
import { openRemote, TransferError, type Opened } from './open-remote.js';

/** Called with the bytes that are there, and with those of the whole file. */
export type OnProgress = (done: number, total: number) => void;

export interface DownloadOptions {
  readonly signal: AbortSignal;
  /** The time for which the server may send nothing. */
  readonly patienceMs: number;
  /** The pause before the first new try; it doubles with each that brings nothing. */
  readonly pauseMs: number;
  /** Called with the facts that a source announces, before anything of the file is kept. Throws where it is not wanted. */
  readonly onAnnounced: (announced: Announced, done: number) => Promise<void>;
  readonly onProgress: OnProgress;
}

export interface Downloaded {
  readonly announced: Announced;
  /** The hash of all bytes in the draft, in hexadecimal digits. */
  readonly sha256: string;
}

/** New tries in a row that bring nothing, after something has come. */
const MAX_TRIES = 5;
/** A file may be replaced once while it is pulled. */
const MAX_RESTARTS = 1;

/** A download under way: the bytes in the draft, and their hash, which grows along. */
interface Progress {
  announced: Announced | null;
  done: number;
  hash: Hash;
  /** The number of times that the source turned out to have another file than the begun one. */
  restarts: number;
}

/**
 * Brings a file into a draft, from where an earlier download of the same file has stopped. A connection that breaks off is
 * opened again.
 * @throws UserError, TransferError
 */
export async function download(
  remote: RemoteSource,
  draft: Draft,
  options: DownloadOptions,
): Promise<Downloaded> {
  const progress = await takeUp(remote, draft);
  let tries = 0;
  let hasReceived = false;
  while (progress.announced === null || progress.done < progress.announced.size) {
    const before = progress.done;
    try {
      await receive({ remote, draft, progress }, options);
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof TransferError)) throw error;
      const hasMore = progress.done !== before;
      hasReceived ||= hasMore;
      tries = hasMore ? 1 : tries + 1;
      // A server that was never reached is more likely misspelt or behind a proxy than about to come back.
      if (!hasReceived || tries > MAX_TRIES) throw error;
      await sleep(options.pauseMs * 2 ** (tries - 1), undefined, { signal: options.signal });
    }
  }
  return { announced: progress.announced, sha256: progress.hash.digest('hex') };
}

/** Takes up a draft. Its bytes count where they are from the same address, and a version of the file was told. */
async function takeUp(remote: RemoteSource, draft: Draft): Promise<Progress> {
  const announced = await draft.announced();
  const done = await draft.size();
  const isOurs = announced?.key === remote.key && announced.version !== null && done <= announced.size;
  if (!isOurs || done === 0) return nothingYet();
  const hash = createHash('sha256');
  await pipeline(createReadStream(draft.path, { highWaterMark: 1024 ** 2 }), hash, { end: false });
  return { announced, done, hash, restarts: 0 };
}

const nothingYet = (): Progress => ({ announced: null, done: 0, hash: createHash('sha256'), restarts: 0 });

interface Transfer {
  readonly remote: RemoteSource;
  readonly draft: Draft;
  readonly progress: Progress;
}

/** Asks once, and takes the bytes that come. */
async function receive(transfer: Transfer, options: DownloadOptions): Promise<void> {
  const { remote, draft, progress } = transfer;
  const watch = watchForSilence(options);
  try {
    const opened = await openRemote(remote, progress.done, watch.signal);
    if (!opened || !continues(opened, progress)) {
      await startOver(transfer);
      if (opened?.offset !== 0) return;
    }
    await options.onAnnounced(opened.announced, progress.done);
    if (progress.done === 0) await draft.begin(opened.announced);
    progress.announced = opened.announced;
    await append(opened, transfer, () => {
      watch.heard();
      options.onProgress(progress.done, opened.announced.size);
    });
  } catch (error) {
    throw watch.silence() ?? error;
  } finally {
    watch.stop();
  }
}

/** @throws UserError where a second beginning would be no better */
async function startOver({ remote, draft, progress }: Transfer): Promise<void> {
  const restarts = progress.restarts + 1;
  if (progress.done === 0 || restarts > MAX_RESTARTS) {
    await draft.remove();
    throw new UserError(
      `${remote.url.host} sends other parts than it was asked for, or a file that keeps changing.`,
    );
  }
  Object.assign(progress, { ...nothingYet(), restarts });
}

function continues({ offset, announced }: Opened, progress: Progress): boolean {
  const { announced: before, done } = progress;
  if (offset !== done) return false;
  if (before === null || done === 0) return true;
  return announced.version === before.version && announced.size === before.size;
}

/** @throws TransferError when it breaks off; UserError when it is no model file */
async function append({ body, contentType, announced }: Opened, transfer: Transfer, onBytes: () => void) {
  const { draft, progress, remote } = transfer;
  const handle = await draft.openToAppend();
  try {
    for await (const bytes of readBody(body, remote)) {
      if (!isGgufAt(progress.done, bytes) || progress.done + bytes.length > announced.size) {
        await draft.remove();
        throw new UserError(`${remote.url.host} sends no GGUF file (${contentType}).`);
      }
      await handle.appendFile(bytes);
      progress.hash.update(bytes);
      progress.done += bytes.length;
      onBytes();
    }
  } finally {
    await handle.close();
  }
  if (progress.done < announced.size) throw new TransferError(`${remote.url.host} broke off`);
}

/** Passes the body on. An error while it is read is an error of the connection. */
async function* readBody(body: AsyncIterable<Uint8Array>, { url }: RemoteSource): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new TransferError(`${url.host} broke off`, { cause: error });
  }
}

const MAGIC = Buffer.from('GGUF');

/** Tells whether bytes at a place of a file can belong to a GGUF file. */
function isGgufAt(place: number, bytes: Uint8Array): boolean {
  if (place >= MAGIC.length) return true;
  const expected = MAGIC.subarray(place, place + bytes.length);
  return expected.equals(bytes.subarray(0, expected.length));
}

/** Ends a transfer whose server is silent for too long. */
function watchForSilence({ signal, patienceMs }: DownloadOptions) {
  const controller = new AbortController();
  let silence: TransferError | null = null;
  const timer = setTimeout(() => {
    silence = new TransferError(`nothing came for ${String(patienceMs / 1_000)} seconds`);
    controller.abort(silence);
  }, patienceMs);
  return {
    signal: AbortSignal.any([signal, controller.signal]),
    heard: () => timer.refresh(),
    /** Null as long as it was not silent for too long. */
    silence: () => silence,
    stop: () => {
      clearTimeout(timer);
      controller.abort();
    },
  };
}
