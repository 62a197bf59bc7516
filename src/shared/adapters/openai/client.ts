import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { createDeadline, type Deadline } from '../../tools/aborting.js';
import { toError, UnavailableError } from '../../errors.js';
import { createBoundedFetch, withWholeAnswers } from '../../provider-http/bounded-fetch.js';
import { withReadableErrors } from '../../provider-http/error-body.js';
import { describeFailure, RefusedError, type ProviderFailure } from './provider-errors.js';

export interface OpenAIConnection {
  /** Null for servers that need no key. */
  readonly apiKey: string | null;
  /** Address of any compatible server, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** The provider may be silent for this long. */
  readonly timeoutMilliseconds: number;
  /** A longer reply is an error. */
  readonly maxReplyBytes?: number;
  /** The function that sends requests; `fetch` by default. */
  readonly fetch?: typeof fetch | undefined;
}

interface OpenAIClient {
  /**
   * Sends a request, and sends it again when the provider asks for a short wait. The returned deadline runs until it is
   * cleared; streams extend it with each event.
   * @throws RefusedError when the provider refuses the request; the signal's reason when it aborts; else UnavailableError
   */
  request<Reply>(
    send: (client: OpenAI, options: { signal: AbortSignal }) => Promise<Reply>,
    signal?: AbortSignal,
  ): Promise<{ reply: Reply; deadline: Deadline }>;
  /** Makes the error to throw for an error in the middle of a reply. */
  translate(error: unknown, deadline: Deadline, signal?: AbortSignal): Error;
}

/** The largest usual reply has 2,048 vectors of 3,072 dimensions as decimal numbers: about 140 MB. */
const MAX_REPLY_BYTES = 256 * 1024 * 1024;
/** The maximum length of a line of an event stream. The client joins the pieces of a line again with each piece that arrives. */
const MAX_LINE_BYTES = 1024 * 1024;
const RETRIES = 2;
const FIRST_WAIT_MILLISECONDS = 300;
/** Longer waits are left to the queue or to the caller. */
const MAX_WAIT_MILLISECONDS = 2000;
const MISCONFIGURED_RETRY_SECONDS = 60;

/** @param reads whether replies are read as a whole, or as streams line by line */
export function createOpenAIClient(
  component: string,
  connection: OpenAIConnection,
  reads: 'whole' | 'lines',
): OpenAIClient {
  const client = connect(connection, reads);
  const translate = (error: unknown, deadline: Deadline, signal?: AbortSignal): Error => {
    if (signal?.aborted === true) return toError(signal.reason);
    if (deadline.isOver) return unavailable(component, new Error('the provider took too long'), null);
    const failure = describeFailure(error);
    return failure.kind === 'refused'
      ? new RefusedError(error, failure.cause)
      : unavailable(component, failure.cause, failure);
  };
  return {
    translate,
    request: async (send, signal) => {
      for (let attempt = 0; ; attempt += 1) {
        signal?.throwIfAborted();
        const deadline = createDeadline(connection.timeoutMilliseconds, signal);
        try {
          return { reply: await send(client, { signal: deadline.signal }), deadline };
        } catch (error) {
          deadline.clear();
          const wait = deadline.isOver ? null : waitBeforeRetry(describeFailure(error), attempt);
          if (wait === null || signal?.aborted === true) throw translate(error, deadline, signal);
          await sleep(wait, undefined, signal ? { signal } : {}).catch((interruption: unknown) => {
            throw translate(interruption, deadline, signal);
          });
        }
      }
    },
  };
}

/**
 * The client's own retries are off, because they sleep as long as `Retry-After` says and ignore an abort. Its log is
 * off, too, because it prints pieces of streams, and so is its reading of the environment.
 */
function connect(
  {
    apiKey,
    baseUrl,
    timeoutMilliseconds,
    maxReplyBytes: bytes = MAX_REPLY_BYTES,
    fetch: send,
  }: OpenAIConnection,
  reads: 'whole' | 'lines',
): OpenAI {
  return new OpenAI({
    fetch: withReadableErrors(
      reads === 'lines'
        ? withWholeAnswers(createBoundedFetch({ send, bytes, lineBytes: MAX_LINE_BYTES }))
        : createBoundedFetch({ send, bytes, lineBytes: Infinity }),
    ),
    apiKey: apiKey ?? 'none',
    ...(apiKey === null ? { defaultHeaders: { Authorization: null } } : {}),
    adminAPIKey: null,
    organization: null,
    project: null,
    baseURL: baseUrl,
    maxRetries: 0,
    timeout: timeoutMilliseconds,
    logLevel: 'off',
  });
}

/** Returns the wait before the next attempt; null when there should be none here. */
function waitBeforeRetry({ kind, retryAfterMilliseconds }: ProviderFailure, attempt: number): number | null {
  if (kind !== 'transient' || attempt >= RETRIES) return null;
  const wait = retryAfterMilliseconds ?? FIRST_WAIT_MILLISECONDS * 2 ** attempt * (1 + Math.random() / 4);
  return wait <= MAX_WAIT_MILLISECONDS ? wait : null;
}

function unavailable(component: string, cause: Error, failure: ProviderFailure | null): UnavailableError {
  const wait = failure?.retryAfterMilliseconds ?? null;
  if (wait !== null) {
    return new UnavailableError(component, { cause, retryAfterSeconds: Math.max(1, Math.ceil(wait / 1000)) });
  }
  return failure?.kind === 'misconfigured'
    ? new UnavailableError(component, { cause, retryAfterSeconds: MISCONFIGURED_RETRY_SECONDS })
    : new UnavailableError(component, { cause });
}
