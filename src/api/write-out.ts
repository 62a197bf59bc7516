import { once } from 'node:events';
import type { Response } from 'express';

/** A client that takes nothing for this long is given up. */
const STALLED_MILLISECONDS = 60_000;

/** Writes and waits until the client has taken enough. @throws when it has gone or stalls */
export async function writeOut(response: Response, bytes: string | Uint8Array): Promise<void> {
  if (response.destroyed) throw new Error('the client is gone');
  if (response.write(bytes)) return;
  const waiting = new AbortController();
  const timer = setTimeout(() => {
    response.destroy();
  }, STALLED_MILLISECONDS);
  try {
    const { signal } = waiting;
    await Promise.race([
      once(response, 'drain', { signal }),
      once(response, 'close', { signal }).then(() => {
        throw new Error('the client is gone');
      }),
    ]);
  } finally {
    clearTimeout(timer);
    waiting.abort();
  }
}
