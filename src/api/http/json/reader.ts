import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { UnavailableError } from '../../../shared/errors.js';
import { invalidJson, parseJson, type JsonOptions } from './json.js';

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
