import type { Response } from 'express';
import { describeError } from '../error-handler.js';
import { leaveStream } from './async-iterables.js';
import { writeOut } from './write-with-backpressure.js';

const HEARTBEAT_MILLISECONDS = 15_000;
/** An error before this, and before the first event, is still answered with its own status. */
const COMMIT_MILLISECONDS = 10_000;

/**
 * Sends server-sent events (HTML standard, 9.2), each item one `data:` line of JSON, with comments that keep proxies
 * from closing a silent stream. An error after the stream has begun becomes an `error` event.
 */
export async function sendEvents(
  response: Response,
  events: AsyncIterable<unknown>,
  onError: (error: unknown) => void,
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    await settledWithin(next, COMMIT_MILLISECONDS);
    response.status(200).set({
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    });
    response.flushHeaders();
    const heartbeat = setInterval(() => {
      if (!response.writableNeedDrain) response.write(': heartbeat\n\n');
    }, HEARTBEAT_MILLISECONDS);
    try {
      for (let item = await next; item.done !== true; item = await next) {
        await writeOut(response, `data: ${JSON.stringify(item.value)}\n\n`);
        next = iterator.next();
      }
    } catch (error) {
      if (response.destroyed) throw error;
      leaveStream(iterator, error).catch(onError);
      onError(error);
      const { status, detail } = describeError(error);
      await writeOut(response, `event: error\ndata: ${JSON.stringify({ status, detail })}\n\n`);
    } finally {
      clearInterval(heartbeat);
    }
    response.end();
  } catch (error) {
    // Without waiting: a producer that hangs was told by its signal.
    leaveStream(iterator, error).catch(onError);
    throw error;
  }
}

/** Waits for a promise, at most so long; its error counts only if it came in time. */
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
