import { BadReplyError } from './provider-errors.js';

/** The largest usual reply has 2,048 vectors of 3,072 dimensions as decimal numbers: about 140 MB. */
export const MAX_REPLY_BYTES = 256 * 1024 * 1024;
/** The maximum length of a line of an event stream. The client joins the pieces of a line again with each piece that arrives. */
const MAX_LINE_BYTES = 1024 * 1024;

const NEWLINE = 0x0a;

/**
 * Fetches like `fetch`, but ends replies that have no end, and follows no redirect: the provider's address is a setting, and
 * what comes from there must not choose another host inside our network.
 */
export function createBoundedFetch(maxReplyBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    const { body, status, statusText, headers } = response;
    if (!body) return response;
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const limits = { bytes: maxReplyBytes, lineBytes: isStream ? MAX_LINE_BYTES : Infinity };
    return new Response(body.pipeThrough(limit(limits)), { status, statusText, headers });
  };
}

/** Passes bytes on, and fails with a BadReplyError when there are too many, of which `lineBytes` in one line. */
function limit(max: { readonly bytes: number; readonly lineBytes: number }) {
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
