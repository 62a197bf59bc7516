import type { Response } from 'express';
import type { z } from 'zod';
import { untilAborted } from '../../../shared/tools/aborting.js';
import { isPlainObject } from '../../../shared/json-values.js';
import { describeError, type ErrorReply } from '../error-handler.js';
import { errorShapeOf } from './error-shapes.js';
import { abandonIterator, type EventForm } from './reply.js';
import type { streamError } from './declared-responses.js';
import { writeWithBackpressure } from './write.js';

const HEARTBEAT_MILLISECONDS = 15_000;
const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};
/** An error that comes before the first event and within this time is still answered with its own status. */
const COMMIT_MILLISECONDS = 10_000;

interface SendingEvents {
  /** Aborts when the client goes away, or may no longer read the events. */
  readonly signal: AbortSignal;
  /** The path of the request, which decides the form of an error. */
  readonly path: string;
  readonly form: EventForm;
  readonly onError: (error: unknown) => void;
}

/**
 * Sends server-sent events (HTML standard, section 9.2). Each item becomes one `data:` line of JSON. Comments are sent
 * while there are no events, so that proxies do not close the stream. An error after the first byte becomes an `error` event;
 * a token that ends is one.
 */
export async function sendEvents(
  response: Response,
  events: AsyncIterable<unknown>,
  { signal, path, form, onError }: SendingEvents,
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]();
  const readNext = () => untilAborted(iterator.next(), signal);
  let next = readNext();
  try {
    await settledWithin(next, COMMIT_MILLISECONDS);
    response.status(200).set(HEADERS).flushHeaders();
    const heartbeat = setInterval(() => {
      if (!response.writableNeedDrain) response.write(': heartbeat\n\n');
    }, HEARTBEAT_MILLISECONDS);
    try {
      for (let item = await next; item.done !== true; item = await next) {
        await writeWithBackpressure(response, writeEvent(item.value, form));
        next = readNext();
      }
      if (form.last !== undefined) response.write(`data: ${form.last}\n\n`);
    } catch (error) {
      if (response.destroyed) throw error;
      abandonIterator(iterator, error).catch(onError);
      onError(error);
      await writeWithBackpressure(
        response,
        `event: error\ndata: ${JSON.stringify(toStreamError(error, path))}\n\n`,
      );
    } finally {
      clearInterval(heartbeat);
    }
    response.end();
  } catch (error) {
    // This is not awaited: a producer that hangs was told by its signal.
    abandonIterator(iterator, error).catch(onError);
    throw error;
  }
}

function writeEvent(value: unknown, { areNamed = false }: EventForm): string {
  const name = areNamed && isPlainObject(value) ? value['type'] : null;
  return `${typeof name === 'string' ? `event: ${name}\n` : ''}data: ${JSON.stringify(value)}\n\n`;
}

/** Makes the event that says the same as a plain error, with its status. */
function toStreamError(error: unknown, path: string): unknown {
  const { status, detail } = describeError(error);
  const shape = errorShapeOf(path);
  return shape ? shape.bodyOf({ status, detail, hasToken: true }) : toOwnStreamError({ status, detail });
}

function toOwnStreamError({
  status,
  detail,
}: Pick<ErrorReply, 'status' | 'detail'>): z.infer<typeof streamError> {
  const sentence = typeof detail === 'string' ? detail : detail.map(({ msg }) => msg).join('; ');
  return { type: 'error', status, detail: sentence };
}

/** Waits for a promise, but not longer than `milliseconds`. Rejects if the promise rejects within that time. */
async function settledWithin(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
