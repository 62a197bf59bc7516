import type { Request, Response } from 'express';
import { toWellFormed } from '../../../shared/well-formed.js';
import type { Lease } from '../../services/retrieval/answer-memory.js';
import { jsonPieces } from '../json/pieces.js';
import { requestLog } from '../logging/request-log.js';
import { sendEvents } from './send-events.js';
import { leaveStream } from './async-iterables.js';
import type { ApiReply } from './reply.js';
import { sendText, startJson } from './send-json.js';
import { PIECE_BYTES, writeOut } from './write-with-backpressure.js';

export interface Exchange {
  readonly request: Request;
  readonly response: Response;
  /** Aborts, with the reason, when the client goes away. */
  readonly signal: AbortSignal;
  /** Memory for a body that is made whole, until it is sent. */
  readonly hold: (bytes: number) => Promise<Lease>;
}

/** Answers a request with what its handler returned; GET and HEAD differ in the body alone. */
export async function sendReply(exchange: Exchange, reply: ApiReply): Promise<void> {
  const { request, response, signal } = exchange;
  if (signal.aborted) {
    await abandon(reply, signal.reason);
    return;
  }
  const isHead = request.method === 'HEAD';
  response.set('Cache-Control', 'no-store').set(reply.headers ?? {});
  switch (reply.type) {
    case 'json':
      await sendBody(exchange, reply, { isHead });
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

/** Nobody is there to be answered: what would have made the answer is told so. */
async function abandon(reply: ApiReply, reason: unknown): Promise<void> {
  switch (reply.type) {
    case 'json':
      return;
    case 'items':
      await leaveStream(reply.items[Symbol.asyncIterator](), reason);
      return;
    case 'events':
      await leaveStream(reply.events[Symbol.asyncIterator](), reason);
      return;
    case 'download':
      await leaveStream(reply.bytes[Symbol.asyncIterator](), reason);
      return;
  }
}

type Body = Extract<ApiReply, { type: 'json' }>;

async function sendBody(
  { response, hold }: Exchange,
  { status, body }: Body,
  { isHead }: { isHead: boolean },
): Promise<void> {
  const text = JSON.stringify(body);
  if (isHead || text.length <= PIECE_BYTES) {
    sendText(response, status, text);
    return;
  }
  const bytes = Buffer.from(text);
  const lease = await hold(bytes.length);
  try {
    startJson(response, status);
    response.setHeader('Content-Length', bytes.length);
    await writeOut(response, bytes);
    response.end();
  } finally {
    lease.release();
  }
}

async function sendItems(
  response: Response,
  items: AsyncIterable<unknown>,
  { isHead }: { isHead: boolean },
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  let piece = '[';
  try {
    let item = await iterator.next();
    for (let separator = ''; item.done !== true && !isHead; separator = ',') {
      piece += separator;
      for await (const text of jsonPieces(item.value)) {
        piece += text;
        if (piece.length < PIECE_BYTES) continue;
        // Headers go out with the first piece: an error before that is answered as any other.
        if (!response.headersSent) startJson(response, 200);
        await writeOut(response, piece);
        piece = '';
      }
      item = await iterator.next();
    }
  } catch (error) {
    await leaveStream(iterator, error);
    throw error;
  }
  if (isHead) await iterator.return?.();
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

/** `Content-Disposition` with any file name (RFC 6266, RFC 8187): plain letters for old clients, then all of it. */
function attachment(filename: string): string {
  const name = filename.replace(/^.*[/\\]/s, '').replace(/\p{Cc}/gu, '') || 'download';
  const plain = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_');
  const encoded = encodeURIComponent(toWellFormed(name)).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
