import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { isPlainObject, jsonOrNull } from '../../shared/json-values.js';
import { say } from '../user-messages.js';
import type { Message, Post, Posted } from './post.js';

export interface Streams {
  readonly input: Readable;
  /** Nothing but messages of the protocol, one a line. */
  readonly output: Writable;
}

/** Carries messages to the service and its answers back, until the input ends. Each request stands alone. */
export async function relay(post: Post, { input, output }: Streams): Promise<void> {
  const running = new Map<string, AbortController>();
  let version: string | undefined;
  const write = (message: unknown) => {
    output.write(`${JSON.stringify(message)}\n`);
  };

  const carry = async (message: Message, text: string): Promise<void> => {
    const { id, method } = message;
    const isRequest = id !== undefined && method !== undefined;
    const controller = new AbortController();
    const key = JSON.stringify(id);
    if (isRequest) running.set(key, controller);
    try {
      const answer = answerOf(message, await post(message, { text, version, signal: controller.signal }));
      if (method === 'initialize') version = versionOf(answer) ?? version;
      if (isRequest) write(answer);
    } catch (error) {
      if (controller.signal.aborted) return;
      say(`Quire does not answer: ${error instanceof Error ? error.message : 'no answer'}`);
      if (isRequest) write(failure(id, 'Quire does not answer: is it running?'));
    } finally {
      if (running.get(key) === controller) running.delete(key);
    }
  };

  const waiting = new Set<Promise<void>>();
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line.trim() === '') continue;
    const message = jsonOrNull(line);
    if (!isPlainObject(message)) write(failure(null, 'A line is one JSON-RPC message', PARSE_ERROR));
    // The end of its connection is what tells the service, whichever of its processes answers.
    else if (message['method'] === 'notifications/cancelled') running.get(cancelledBy(message))?.abort();
    else {
      const carried = carry(message, line).finally(() => waiting.delete(carried));
      waiting.add(carried);
    }
  }
  await Promise.all(waiting);
}

const PARSE_ERROR = -32_700;
const SERVER_ERROR = -32_000;

const failure = (id: unknown, message: string, code = SERVER_ERROR) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

const cancelledBy = ({ params }: Message): string =>
  isPlainObject(params) ? JSON.stringify(params['requestId'] ?? null) : '';

/** Refusals that are none of the protocol become its errors, in the words of the service. */
function answerOf({ id }: Message, { status, text }: Posted): Message {
  const body = jsonOrNull(text);
  if (isPlainObject(body) && body['jsonrpc'] === '2.0') return { ...body, id };
  const detail = isPlainObject(body) ? body['detail'] : undefined;
  const words = typeof detail === 'string' ? detail : JSON.stringify(detail ?? '');
  return failure(id, `Quire answers ${String(status)}: ${words}`);
}

function versionOf({ result }: Message): string | undefined {
  const version = isPlainObject(result) ? result['protocolVersion'] : undefined;
  return typeof version === 'string' ? version : undefined;
}
