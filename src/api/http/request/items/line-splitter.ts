import type { BodyClaim } from '../body-budget.js';
import { GatheredBytes } from '../gathered-bytes.js';
import { HttpError } from '../../http-error.js';

const [LINE_FEED, CARRIAGE_RETURN, TAB, SPACE] = [0x0a, 0x0d, 0x09, 0x20];

/** A line that is not blank: its bytes without the line feed, or why they were not kept. */
export type Line = { readonly number: number } & (
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
