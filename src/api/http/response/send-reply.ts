import type { Request, Response } from 'express';
import type { Lease } from '../../services/answer-memory/answer-memory.js';
import { requestLogger } from '../logging/request-logger.js';
import { abandonIterator } from './async-iterables.js';
import type { ApiReply } from './reply.js';
import { sendDownload } from './send-download.js';
import { sendEvents } from './send-events.js';
import { sendItems } from './send-items.js';
import { sendLines } from './send-lines.js';
import { sendText, startJson } from './send-json.js';
import { PIECE_BYTES, writeWithBackpressure } from './write-with-backpressure.js';

export interface Exchange {
  readonly request: Request;
  readonly response: Response;
  /** Aborts when the client goes away; its reason is an AbandonedError. */
  readonly signal: AbortSignal;
  /** The same, and when its token ends. */
  readonly whileValid: () => AbortSignal;
  /** Takes memory for a body that is built as one string, until it has been sent. */
  readonly hold: (bytes: number) => Promise<Lease>;
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
      await sendBody(exchange, reply, { isHead });
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
    await writeWithBackpressure(response, bytes);
    response.end();
  } finally {
    lease.release();
  }
}
