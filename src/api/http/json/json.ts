import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { UnavailableError } from '../../../shared/errors.js';
import { isExact, NOT_EXACT_JSON } from '../../../shared/json-values.js';
import { HttpError } from '../http-error.js';

export interface JsonOptions {
  /**
   * Numbers in this many objects and lists, or more, are Infinity where a double would change them. In a body these are
   * numbers inside of its fields, such as metadata and filters; its own numbers are compared with their bounds only.
   */
  readonly exactFrom?: number;
}

/** @throws HttpError 422 in the format of pydantic 1 */
export function parseJson(bytes: Uint8Array, options: JsonOptions = {}): unknown {
  try {
    return parseBounded(bytes, options);
  } catch (cause) {
    throw invalidJson(cause);
  }
}

/** @throws an error for malformed JSON, and for JSON that is too deep or has too many keys or values */
export function parseBounded(bytes: Uint8Array, { exactFrom = 2 }: JsonOptions = {}): unknown {
  const scan = scanJson(bytes, exactFrom);
  if (!scan) throw new SyntaxError('too deep, or too many keys or values');
  const { inexact } = scan;
  const kept = inexact.length === 0 ? bytes : replaceInexact(bytes, inexact);
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(kept));
}

export function invalidJson(cause?: unknown): HttpError {
  const item = { loc: ['body'], msg: 'Invalid JSON', type: 'value_error.jsondecode' };
  return new HttpError(422, [item], { cause });
}

/** Code that recurses over a value must not run out of stack. */
const MAX_DEPTH = 200;
/** Far more than any valid request has. Half a million keys take seconds to parse, and as long to look at. */
const MAX_KEYS = 10_000;
/** Counts values in lists and objects. The largest valid request, with 100,000 document ids or a full filter, has fewer. */
const MAX_VALUES = 200_000;

/** The place of a value in a text, in bytes. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Counts depth, keys and values before anything is parsed, so that no body can hold up the process, and finds the numbers
 * that a double would change: `JSON.parse` does not tell their digits. Null for a body that has too much.
 */
function scanJson(bytes: Uint8Array, exactFrom: number): { readonly inexact: readonly Span[] } | null {
  const inexact: Span[] = [];
  let depth = 0;
  let keys = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    switch (byte) {
      case QUOTE:
        at = endOfString(bytes, at);
        break;
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        depth += 1;
        values += 1;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
        break;
      case COLON:
        keys += 1;
        break;
      case undefined:
        break;
      default:
        if (beginsNumber(byte)) {
          const end = endOfNumber(bytes, at);
          if (depth >= exactFrom && !isKept(bytes, at, end)) inexact.push({ start: at, end });
          at = end - 1;
        }
    }
    if (depth > MAX_DEPTH || keys > MAX_KEYS || values > MAX_VALUES) return null;
  }
  return { inexact };
}

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];
const [MINUS, PLUS, POINT, ZERO, NINE, LOWER_E, UPPER_E] = [0x2d, 0x2b, 0x2e, 0x30, 0x39, 0x65, 0x45];

/** Goes byte by byte: a native search for each quote takes ten times as long where every second byte is a quote. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;
const beginsNumber = (byte: number): boolean => byte === MINUS || isDigit(byte);

function endOfNumber(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  for (let byte = bytes[at]; byte !== undefined && belongsToNumber(byte); byte = bytes[at]) at += 1;
  return at;
}

const belongsToNumber = (byte: number): boolean =>
  isDigit(byte) || [MINUS, PLUS, POINT, LOWER_E, UPPER_E].includes(byte);

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Tells whether a literal is kept. A literal that is no number counts as kept, so that parsing refuses it. */
function isKept(bytes: Uint8Array, start: number, end: number): boolean {
  const literal = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
  return !NUMBER.test(literal) || isExact(literal);
}

/** Returns the text with a number in place of each of these that is parsed to Infinity. */
function replaceInexact(bytes: Uint8Array, inexact: readonly Span[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { start, end } of inexact) {
    parts.push(bytes.subarray(from, start), Buffer.from(NOT_EXACT_JSON));
    from = end;
  }
  return Buffer.concat([...parts, bytes.subarray(from)]);
}

/** Parses a JSON body. @throws HttpError 422 in the format of pydantic 1 */
export type ReadJson = (bytes: Buffer, options?: JsonOptions) => Promise<unknown>;

/** The question to the thread that parses. */
export interface JsonQuestion extends JsonOptions {
  readonly bytes: Uint8Array;
}

export type JsonAnswer = { readonly type: 'value'; readonly value: unknown } | { readonly type: 'invalid' };

/** A body up to this size is parsed in a few milliseconds, whatever it contains. */
const SMALL_BYTES = 256 * 1024;
const IDLE_MILLISECONDS = 30_000;

/**
 * Parses JSON without blocking the event loop. Large bodies are parsed in a thread, which is started when it is needed. It
 * parses one body at a time, so that no two results are received in the same turn of the loop.
 */
export function createJsonReader(): ReadJson {
  const parseInThread = createJsonThread();
  let last: Promise<unknown> = Promise.resolve();
  return async (bytes, options = {}) => {
    if (bytes.length <= SMALL_BYTES) return parseJson(bytes, options);
    const before = last;
    const mine = before.then(() => parseInThread({ bytes, ...options }));
    last = mine.catch(() => undefined);
    const answer = await mine;
    // Receiving the value has taken up this turn of the event loop; validating it belongs in the next one.
    await nextTurn();
    if (answer.type === 'invalid') throw invalidJson();
    return answer.value;
  };
}

/** Must not be called again before it has answered. The bytes are transferred to the thread and are empty afterwards. */
function createJsonThread(): (question: JsonQuestion) => Promise<JsonAnswer> {
  let worker: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  const stop = () => {
    void worker?.terminate();
    worker = null;
  };
  const start = (): Worker => {
    const started = new Worker(new URL('./thread.js', import.meta.url));
    started.unref();
    return started;
  };
  return async (question) => {
    clearTimeout(idle);
    worker ??= start();
    try {
      return await ask(worker, question);
    } catch (cause) {
      stop();
      throw new UnavailableError('the reader of large requests', { cause });
    } finally {
      idle = setTimeout(stop, IDLE_MILLISECONDS).unref();
    }
  };
}

/** @throws when the thread ends before it answers */
function ask(worker: Worker, question: JsonQuestion): Promise<JsonAnswer> {
  return new Promise((resolve, reject) => {
    const done = () => {
      worker.off('message', answer).off('error', fail).off('exit', fail);
    };
    const answer = (message: JsonAnswer) => {
      done();
      resolve(message);
    };
    const fail = (cause: unknown) => {
      done();
      reject(new Error('the thread ended', { cause }));
    };
    worker.once('message', answer).once('error', fail).once('exit', fail);
    // Only small buffers share their memory with others, which cannot be transferred.
    const { buffer, length } = question.bytes;
    const isOwn = buffer instanceof ArrayBuffer && length > Buffer.poolSize;
    worker.postMessage(question, isOwn ? [buffer] : []);
  });
}
