import type { IncomingMessage } from 'node:http';
import { watchProgress } from '../body-progress.js';
import { ClientGoneError } from '../body.js';
import { GatheredBytes } from '../gathered-bytes.js';

/** The connection is not read any further while this much has arrived and is not taken. */
const ARRIVED_BYTES = 64 * 1024;

/** Reads a body piece by piece, with backpressure. A body that comes too slowly, or pauses for too long, ends with a 408. */
export class BodyStream {
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
