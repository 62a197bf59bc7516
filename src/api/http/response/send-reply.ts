import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import type { MemoryLease } from '../../services/answer-memory/answer-memory.js';
import { StreamedText } from '../../services/documents/source-text.js';
import { requestLogger } from '../logging/access-log.js';
import { parameterValue } from '../parameter-value.js';
import { abandonIterator, type ApiReply } from './reply.js';
import { sendEvents } from './send-events.js';
import { sendText, startJson, PIECE_BYTES, writeWithBackpressure } from './write.js';

export interface Exchange {
  readonly request: Request;
  readonly response: Response;
  /** Aborts when the client goes away; its reason is an AbandonedError. */
  readonly signal: AbortSignal;
  /** The same, and when its token ends. */
  readonly whileValid: () => AbortSignal;
  /** Takes memory for a body that is built as a whole, until it has been sent. */
  readonly hold: (bytes: number) => Promise<MemoryLease>;
}

/** Sends the reply that the handler of a request returned. HEAD gets the headers of GET without its body. */
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
      await sendBody(exchange, { status: reply.status, text: JSON.stringify(reply.body) }, { isHead });
      return;
    case 'message':
      if (reply.text === '') response.status(reply.status).end();
      else await sendBody(exchange, reply, { isHead });
      return;
    case 'items':
      await sendItems(response, reply.items, { isHead });
      return;
    case 'lines':
      await sendLines(response, reply);
      return;
    case 'events':
      await sendEvents(response, reply.events, {
        signal: exchange.whileValid(),
        path: request.path,
        form: reply.form ?? {},
        onError: (error) => {
          requestLogger(request).warn({ err: error }, 'event stream failed');
        },
      });
      return;
    case 'download':
      await sendDownload(response, reply, { isHead });
      return;
  }
}

/** The client is gone: closes the streams that the response would have been made of. */
async function abandon(reply: ApiReply, reason: unknown): Promise<void> {
  switch (reply.type) {
    case 'json':
    case 'message':
      return;
    case 'items':
      await abandonIterator(reply.items[Symbol.asyncIterator](), reason);
      return;
    case 'lines':
      await abandonIterator(reply.lines[Symbol.asyncIterator](), reason);
      return;
    case 'events':
      await abandonIterator(reply.events[Symbol.asyncIterator](), reason);
      return;
    case 'download':
      await abandonIterator(reply.bytes[Symbol.asyncIterator](), reason);
      return;
  }
}

interface Body {
  readonly status: number;
  /** JSON */
  readonly text: string;
}

async function sendBody(
  { response, hold }: Exchange,
  { status, text }: Body,
  { isHead }: { isHead: boolean },
): Promise<void> {
  const bytes = Buffer.from(text);
  if (isHead || bytes.length <= PIECE_BYTES) {
    sendText(response, status, bytes);
    return;
  }
  const lease = await hold(bytes.length);
  try {
    startJson(response, status);
    response.setHeader('Content-Length', bytes.length);
    await writeWithBackpressure(response, bytes);
    response.end();
  } finally {
    lease.release();
  }
}

/** Sends a JSON array item by item, in pieces of about 64 KiB. */
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
      const whole = jsonText(item.value);
      for await (const text of whole === null ? jsonPieces(item.value) : [whole]) {
        piece += text;
        if (piece.length < PIECE_BYTES) continue;
        // The headers leave with the first piece, so that an error before it can still be answered with its status.
        if (!response.headersSent) startJson(response, 200);
        await writeWithBackpressure(response, piece);
        piece = '';
      }
      item = await iterator.next();
    }
  } catch (error) {
    await abandonIterator(iterator, error);
    throw error;
  }
  if (isHead) await iterator.return?.();
  if (!response.headersSent) startJson(response, 200);
  response.end(isHead ? undefined : `${piece}]`);
}

/** Stands for a long text while the rest of a value is serialized. It is random, so no value can contain it. */
const PLACE = randomUUID();

/** Serializes a value as JSON (RFC 8259); null when it has long texts, whose parts `jsonPieces` reads. */
function jsonText(value: unknown): string | null {
  return hasText(value) ? null : JSON.stringify(value);
}

/** Serializes a value as JSON, with its long texts in parts. Long texts may be up to two levels deep. */
async function* jsonPieces(value: unknown): AsyncGenerator<string> {
  const texts: StreamedText[] = [];
  const pieces = JSON.stringify(takeOut(value, texts)).split(PLACE);
  for (const [i, piece] of pieces.entries()) {
    yield piece;
    const text = texts[i];
    if (!text) return;
    // Each part is escaped by itself. Halves of a surrogate pair are escaped separately and read as the pair.
    for await (const part of text.parts) yield JSON.stringify(part).slice(1, -1);
  }
}

/** Looks as deep as `takeOut`. */
function hasText(value: unknown, depth = 0): boolean {
  if (value instanceof StreamedText) return true;
  if (depth > 1 || typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).some((inner) => hasText(inner, depth + 1));
}

/** Looks two levels deep only: visiting every value of every item would cost more than serializing it. */
function takeOut(value: unknown, texts: StreamedText[], depth = 0): unknown {
  if (value instanceof StreamedText) {
    texts.push(value);
    return PLACE;
  }
  if (depth > 1 || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, takeOut(inner, texts, depth + 1)]),
  );
}

type Lines = Extract<ApiReply, { type: 'lines' }>;

/** Sends lines of JSON, each group of them as soon as it is there. An error cuts the response off. */
async function sendLines(response: Response, { status, lines }: Lines): Promise<void> {
  const iterator = lines[Symbol.asyncIterator]();
  try {
    let group = await iterator.next();
    response.status(status);
    // Express would add a charset, which JSON does not have.
    response.setHeader('Content-Type', 'application/x-ndjson');
    response.setHeader('X-Accel-Buffering', 'no');
    for (; group.done !== true; group = await iterator.next()) {
      const text = group.value.map((line) => `${JSON.stringify(line)}\n`).join('');
      if (text !== '') await writeWithBackpressure(response, text);
    }
  } catch (error) {
    await abandonIterator(iterator, error);
    throw error;
  }
  response.end();
}

type Download = Extract<ApiReply, { type: 'download' }>;

/** Sends a file for the client to save, or to show. */
async function sendDownload(
  response: Response,
  reply: Download,
  { isHead }: { isHead: boolean },
): Promise<void> {
  const iterator = reply.bytes[Symbol.asyncIterator]();
  try {
    // The first bytes are read before the headers leave, so that a file that cannot be read is answered with an error.
    let item = isHead ? null : await iterator.next();
    response.status(200).set({
      'Content-Length': String(reply.sizeBytes),
      'Content-Disposition': disposition(reply),
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    });
    // Express would add a charset, which is not known here.
    response.setHeader('Content-Type', reply.contentType);
    let left = isHead ? 0 : reply.sizeBytes;
    for (; item !== null && item.done !== true; item = await iterator.next()) {
      left -= item.value.length;
      if (left >= 0) await writeWithBackpressure(response, item.value);
    }
    if (left !== 0)
      throw new Error(`a download of ${String(reply.sizeBytes)} bytes was off by ${String(left)}`);
    response.end();
  } finally {
    await iterator.return?.();
  }
}

/** `Content-Disposition` for any file name (RFC 6266, RFC 8187): an ASCII form for old clients, then the full name. */
function disposition({ filename, isInline = false }: Download): string {
  const name = filename.replace(/^.*[/\\]/s, '').replace(/\p{Cc}/gu, '') || 'download';
  const plain = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_');
  return `${isInline ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${parameterValue(name)}`;
}
