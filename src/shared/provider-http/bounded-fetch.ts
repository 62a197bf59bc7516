import { BadReplyError } from './bad-reply-error.js';

export interface BoundedFetchOptions {
  readonly bytes: number;
  /** The limit for one line. A client that reads lines must not rely on the type that the reply says it has. */
  readonly lineBytes: number;
  /** The function that sends requests; `fetch` by default. */
  readonly send?: typeof fetch | undefined;
}

const NEWLINE = 0x0a;

/**
 * Fetches like `fetch`, but ends replies that have no end, and follows no redirect: the provider's address is a setting,
 * and its replies must not choose another host inside our network.
 */
export function createBoundedFetch({ send = fetch, ...max }: BoundedFetchOptions): typeof fetch {
  return async (input, init) => {
    const response = await send(input, { ...init, redirect: 'manual' });
    const { body, status, statusText, headers } = response;
    if (!body) return response;
    return new Response(body.pipeThrough(limit(max)), { status, statusText, headers });
  };
}

/** Passes bytes on, and fails with a BadReplyError when there are too many in all, or more than `lineBytes` in one line. */
function limit(max: Pick<BoundedFetchOptions, 'bytes' | 'lineBytes'>) {
  let bytes = 0;
  let lineBytes = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform: (piece, controller) => {
      bytes += piece.length;
      const first = piece.indexOf(NEWLINE);
      const longest = lineBytes + (first < 0 ? piece.length : first);
      lineBytes = first < 0 ? longest : piece.length - piece.lastIndexOf(NEWLINE) - 1;
      if (bytes > max.bytes || longest > max.lineBytes) throw new BadReplyError('is too long');
      controller.enqueue(piece);
    },
  });
}
