import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { AppError, TryLaterError } from '../../../../shared/errors.js';
import { nextSlice } from '../../../../shared/tools/time-slices.js';
import { tokenEnded } from '../../../auth/authentication.js';
import { AbandonedError } from '../../../services/abandoned-error.js';
import type { IncomingItem } from '../../../services/ingest/incoming.js';
import { HttpError } from '../../http-error.js';
import { parseRequest } from '../../validation/validation-errors.js';
import type { BodyClaim } from '../body-budget.js';
import { watchProgress, ClientGoneError, GatheredBytes, type BodyReading } from '../body.js';
import { createParser, GROUP_ITEMS, type ItemsTarget } from './parse-items.js';

/**
 * Parses the lines of a stream, in groups. Bytes that arrive while a group is stored are read up to 64 KiB; then the client
 * has to wait. Where the stream ends too early, the last item says why, under the number of the line that comes next.
 * @throws ClientGoneError
 */
export async function* groupLines<Item, Common>(
  request: IncomingMessage,
  reading: BodyReading,
  target: ItemsTarget<Item, Common>,
): AsyncGenerator<readonly IncomingItem<Item>[]> {
  const { claim, maxBytes, graceSeconds } = reading;
  // This may throw, and so comes first.
  const lines = new LineSplitter({ maxLineBytes: maxBytes, claim });
  const stream = new BodyStream(request, graceSeconds);
  const giveWay = () => {
    stream.end(new HttpError(408, 'The request body comes too slowly while others need the memory'));
  };
  const stopReading = claim.whileReading(giveWay);
  const stopWatching = endWhen(stream, target);
  const common = parseRequest(target.common, {}, 'body');
  const parseLine = createParser(reading, target, { common, list: null });
  const parser: ParseItem<Item> = async (index, bytes) => {
    // A large line is parsed elsewhere, and its bytes are gone then.
    const digest = target.withDigests ? createHash('sha256').update(bytes).digest('base64url') : undefined;
    return { ...(await parseLine(index, bytes)), digest };
  };
  try {
    for (let bytes = await stream.next(); bytes; bytes = await stream.next()) {
      // The arrived bytes may be thirty thousand lines.
      await nextSlice();
      yield* inGroups(lines.push(bytes), parser);
      lines.giveBack();
    }
    yield* inGroups(lines.finish(), parser);
  } catch (error) {
    // The client has been told nothing of the lines after this one.
    if (!(error instanceof AppError) || error instanceof ClientGoneError) throw error;
    yield [{ index: lines.next, error }];
  } finally {
    stopReading();
    stopWatching();
    stream.close();
  }
}

/** Ends a stream when the service stops, or the token ends that it came with. Returns a function that ends the watch. */
function endWhen(
  stream: BodyStream,
  { stopping, whileValid }: Pick<ItemsTarget<unknown, unknown>, 'stopping' | 'whileValid'>,
): () => void {
  const stop = () => {
    stream.end(new TryLaterError('The service is stopping', { retryAfterSeconds: 2 }));
  };
  const expire = () => {
    // A client that goes away breaks the stream off by itself.
    const reason: unknown = whileValid.reason;
    if (reason instanceof AbandonedError && reason.code === 'token_ended') stream.end(tokenEnded());
  };
  stopping.addEventListener('abort', stop, { once: true });
  whileValid.addEventListener('abort', expire, { once: true });
  if (stopping.aborted) stop();
  if (whileValid.aborted) expire();
  return () => {
    stopping.removeEventListener('abort', stop);
    whileValid.removeEventListener('abort', expire);
  };
}

type ParseItem<Item> = (index: number, bytes: Buffer) => Promise<IncomingItem<Item>>;

async function* inGroups<Item>(
  lines: readonly Line[],
  parser: ParseItem<Item>,
): AsyncGenerator<readonly IncomingItem<Item>[]> {
  for (let first = 0; first < lines.length; first += GROUP_ITEMS) {
    const group: IncomingItem<Item>[] = [];
    for (const { number, bytes, error } of lines.slice(first, first + GROUP_ITEMS))
      group.push(bytes ? await parser(number, bytes) : { index: number, error });
    yield group;
  }
}

/** The connection is not read any further while this much has arrived and is not taken. */
const ARRIVED_BYTES = 64 * 1024;

/** Reads a body piece by piece, with backpressure. A body that comes too slowly, or pauses for too long, ends with a 408. */
class BodyStream {
  readonly #request: IncomingMessage;
  readonly #arrived = new GatheredBytes();
  readonly #stopTiming: () => void;
  #isOver = false;
  #failure: Error | null = null;
  #wake: () => void = () => undefined;

  constructor(request: IncomingMessage, graceSeconds: number) {
    this.#request = request;
    this.#stopTiming = watchProgress(request, { graceSeconds, pauseSeconds: graceSeconds }, (error) => {
      this.end(error);
    });
    request.on('data', this.#take).on('end', this.#finish).on('error', this.#breakOff);
    request.on('close', this.#breakOff);
    if (request.destroyed) this.#breakOff();
  }

  /**
   * Resolves with all that has arrived since the last call, which it waits for if there is nothing; null at the end of the
   * body. Many small pieces of a client are taken together.
   * @throws HttpError 408, or the reason of `end`; ClientGoneError
   */
  async next(): Promise<Buffer | null> {
    while (this.#arrived.size === 0 && !this.#isOver && !this.#failure) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#request.resume();
      });
    }
    const { bytes } = this.#arrived;
    this.#arrived.clear();
    // The arrived bytes are still taken, unless nobody is there to be told of them.
    if (this.#failure && (bytes.length === 0 || this.#failure instanceof ClientGoneError))
      throw this.#failure;
    return bytes.length === 0 ? null : bytes;
  }

  /** Lets `next` throw this, once the arrived bytes are taken. */
  end(reason: Error): void {
    this.#failure ??= reason;
    this.#wake();
  }

  close(): void {
    this.#stopTiming();
    const request = this.#request;
    request.off('data', this.#take).off('end', this.#finish).off('error', this.#breakOff);
    request.off('close', this.#breakOff).pause();
  }

  readonly #take = (part: Buffer) => {
    this.#arrived.add(part);
    if (this.#arrived.size >= ARRIVED_BYTES) this.#request.pause();
    this.#wake();
  };

  readonly #finish = () => {
    this.#isOver = true;
    this.#wake();
  };

  readonly #breakOff = (cause?: unknown) => {
    if (!this.#isOver) this.end(new ClientGoneError('the request broke off', { cause }));
  };
}

const [LINE_FEED, CARRIAGE_RETURN, TAB, SPACE] = [0x0a, 0x0d, 0x09, 0x20];

/** A line that is not blank: its bytes without the line feed, or why they were not kept. */
type Line = { readonly number: number } & (
  { readonly bytes: Buffer; readonly error?: never } | { readonly error: Error; readonly bytes?: never }
);

/** The bytes held for a stream as long as it is read: for arrived bytes, and for lines up to `UNCLAIMED_BYTES`. */
const STREAM_BYTES = 64 * 1024;
const UNCLAIMED_BYTES = 16 * 1024;

interface SplitterOptions {
  readonly maxLineBytes: number;
  /** Holds memory for the stream, and for the line that has not ended. */
  readonly claim: BodyClaim;
}

/**
 * Splits a stream into its lines, which are numbered from 0, blank ones included. Of a line that is too long, or for which
 * there is no memory, nothing is held, and the lines after it are read as usual.
 */
export class LineSplitter {
  readonly #options: SplitterOptions;
  readonly #begun = new GatheredBytes();
  #error: Error | null = null;
  #number = 0;
  #isLarge = false;

  /** @throws TryLaterError */
  constructor(options: SplitterOptions) {
    this.#options = options;
    options.claim.grow(STREAM_BYTES);
  }

  /** The number of the line that comes next. */
  get next(): number {
    return this.#number;
  }

  /** Returns the lines that end in `bytes`, in order. Their bytes may lie in `bytes`. */
  push(bytes: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      lines.push(...this.#endLine(bytes.subarray(start, end)));
      start = end + 1;
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start));
    return lines;
  }

  /** Returns the last line, which may lack its line feed. */
  finish(): Line[] {
    return this.#begun.size > 0 || this.#error ? this.#endLine(Buffer.alloc(0)) : [];
  }

  /** Gives back the memory of a long line that has ended. @throws TryLaterError when not even little memory is left */
  giveBack(): void {
    if (!this.#isLarge || this.#begun.size > 0) return;
    this.#isLarge = false;
    // It grows anew, so that it is among the small ones again.
    this.#options.claim.shrink(0);
    this.#options.claim.grow(STREAM_BYTES);
  }

  /** Keeps a part of a line that has not ended. */
  #keep(part: Buffer): void {
    const size = this.#begun.size + part.length;
    this.#isLarge ||= size > UNCLAIMED_BYTES;
    this.#error ??= refusalOf(size, this.#options);
    if (this.#error) this.#begun.clear();
    else this.#begun.add(part);
  }

  #endLine(rest: Buffer): Line[] {
    const { maxLineBytes } = this.#options;
    const begun = this.#begun;
    const error = this.#error ?? (begun.size + rest.length > maxLineBytes ? tooLong(maxLineBytes) : null);
    if (begun.size > 0 && !error) begun.add(rest);
    const bytes = begun.size > 0 ? begun.bytes : rest;
    begun.clear();
    this.#error = null;
    const number = this.#number;
    this.#number += 1;
    if (error) return [{ number, error }];
    return isBlank(bytes) ? [] : [{ number, bytes }];
  }
}

function refusalOf(bytes: number, { maxLineBytes, claim }: SplitterOptions): Error | null {
  if (bytes > maxLineBytes) return tooLong(maxLineBytes);
  try {
    if (bytes > UNCLAIMED_BYTES) claim.grow(STREAM_BYTES + bytes);
    return null;
  } catch (thrown) {
    if (thrown instanceof Error) return thrown;
    throw thrown;
  }
}

const tooLong = (maxLineBytes: number) =>
  new HttpError(
    413,
    `The line is larger than ${String(maxLineBytes)} bytes; large documents go to /ingest/file`,
  );

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) {
    if (byte !== SPACE && byte !== TAB && byte !== CARRIAGE_RETURN) return false;
  }
  return true;
}
