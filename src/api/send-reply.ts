import type { Request, Response } from 'express';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sendEvents } from './event-stream.js';
import { jsonPieces } from './json-pieces.js';
import { requestLog } from './request-log.js';
import type { ApiReply } from './route.js';
import { sendJson, startJson } from './send-json.js';
import { writeOut } from './write-out.js';

/** Answers a request with what its handler returned; GET and HEAD differ in the body alone. */
export async function sendReply(request: Request, response: Response, reply: ApiReply): Promise<void> {
  const isHead = request.method === 'HEAD';
  response.set('Cache-Control', 'no-store').set(reply.headers ?? {});
  switch (reply.type) {
    case 'json':
      sendJson(response, reply.status, reply.body);
      return;
    case 'items':
      await sendItems(response, reply.items, { isHead });
      return;
    case 'events':
      await sendEvents(response, reply.events, (error) => {
        requestLog(request).warn({ err: error }, 'event stream failed');
      });
      return;
    case 'download':
      await sendDownload(response, reply, { isHead });
      return;
  }
}

/** Items are gathered to pieces of about this many characters, with a turn of the event loop after each. */
const PIECE_LENGTH = 64 * 1024;

async function sendItems(
  response: Response,
  items: AsyncIterable<unknown>,
  { isHead }: { isHead: boolean },
): Promise<void> {
  let piece = '[';
  let separator = '';
  for await (const item of items) {
    // Headers go out with the first piece: an error before that is answered as any other.
    piece += separator;
    separator = ',';
    for await (const text of jsonPieces(item)) {
      piece += text;
      if (isHead) break;
      if (piece.length < PIECE_LENGTH) continue;
      if (!response.headersSent) startJson(response, 200);
      await writeOut(response, piece);
      piece = '';
      await nextTurn();
    }
    if (isHead) break;
  }
  if (!response.headersSent) startJson(response, 200);
  response.end(isHead ? undefined : `${piece}]`);
}

type Download = Extract<ApiReply, { type: 'download' }>;

async function sendDownload(
  response: Response,
  reply: Download,
  { isHead }: { isHead: boolean },
): Promise<void> {
  const iterator = reply.bytes[Symbol.asyncIterator]();
  try {
    // The first bytes are read before the headers go: a file that cannot be read is answered as any other error.
    let item = isHead ? null : await iterator.next();
    response.status(200).set({
      'Content-Length': String(reply.sizeBytes),
      'Content-Disposition': attachment(reply.filename),
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    });
    // Not by express, which would add a charset that we do not know.
    response.setHeader('Content-Type', reply.contentType);
    let left = isHead ? 0 : reply.sizeBytes;
    for (; item !== null && item.done !== true; item = await iterator.next()) {
      left -= item.value.length;
      if (left >= 0) await writeOut(response, item.value);
    }
    if (left !== 0)
      throw new Error(`a download of ${String(reply.sizeBytes)} bytes was off by ${String(left)}`);
    response.end();
  } finally {
    await iterator.return?.();
  }
}

/** Without halves of surrogate pairs, which cannot be encoded. */
const wellFormed = (text: string) => Buffer.from(text).toString();

/** `Content-Disposition` with any file name (RFC 6266, RFC 8187): plain letters for old clients, then all of it. */
function attachment(filename: string): string {
  const name = filename.replace(/^.*[/\\]/s, '').replace(/\p{Cc}/gu, '') || 'download';
  const plain = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_');
  const encoded = encodeURIComponent(wellFormed(name)).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
