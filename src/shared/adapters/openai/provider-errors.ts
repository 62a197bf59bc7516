import { APIConnectionError, APIError } from 'openai';
import { BadReplyError } from '../../provider-http/bad-reply-error.js';
import { networkCause, parseRetryAfter } from '../../provider-http/bounded-fetch.js';
import { isPlainWord } from '../../provider-http/error-body.js';
import { readCompletionLimit, readTooLong, type TooLong } from '../../provider-http/too-long.js';

/** The provider understood the request and refused it (400, 413, 422). Sending it again would change nothing. */
export class RefusedError extends Error {
  readonly status: number;
  /** The request parameters that the provider named as the reason. */
  readonly parameters: readonly string[];
  /** Null unless the reason is that the prompt or text is longer than the model reads. */
  readonly tooLong: TooLong | null;
  /** The longest completion, in tokens, where the reason is that a longer one was asked for. */
  readonly completionLimit: number | null;
  readonly isFiltered: boolean;

  constructor(error: unknown, cause: Error) {
    const status = error instanceof APIError && typeof error.status === 'number' ? error.status : 400;
    super(`refused with status ${String(status)}`, { cause });
    this.name = 'RefusedError';
    this.status = status;
    this.parameters = refusedParameters(error);
    this.tooLong = tooLongOf(error);
    this.completionLimit =
      this.tooLong || !(error instanceof APIError) ? null : readCompletionLimit(error.message);
    this.isFiltered = isFiltered(error);
  }
}

/** The meaning of a failed request for the next one. */
export interface ProviderFailure {
  readonly kind: 'refused' | 'transient' | 'misconfigured';
  /** The wait that the provider asked for, in milliseconds; null when it did not ask. */
  readonly retryAfterMilliseconds: number | null;
  /** Safe to log: providers quote keys and texts in their messages, so none of these messages is kept. */
  readonly cause: Error;
}

export function describeFailure(error: unknown, now: number = Date.now()): ProviderFailure {
  if (!(error instanceof APIError) || typeof error.status !== 'number') {
    return { kind: 'transient', retryAfterMilliseconds: null, cause: describeNetworkError(error) };
  }
  const status: number = error.status;
  const { code } = error;
  const words = [code, error.type].filter(isPlainWord).join(' ');
  const request = isPlainWord(error.requestID) ? `, request ${error.requestID}` : '';
  const headers = error.headers instanceof Headers ? error.headers : new Headers();
  return {
    kind: kindOf(status, code, headers.get('x-should-retry')),
    retryAfterMilliseconds: parseRetryAfter(headers, now),
    cause: new Error(`the provider answered ${String(status)}${words && ` (${words})`}${request}`),
  };
}

/** Error codes that are about the setup, whatever the status. */
const SETUP_CODES = [
  'model_not_found',
  // Codes of our own server of local models for a file that was replaced, or is of another kind.
  'model_changed',
  'wrong_kind',
  'invalid_api_key',
  'insufficient_quota',
  'billing_hard_limit_reached',
];

function kindOf(
  status: number,
  code: string | null | undefined,
  shouldRetry: string | null,
): ProviderFailure['kind'] {
  if (typeof code === 'string' && SETUP_CODES.includes(code)) return 'misconfigured';
  if ([400, 413, 422].includes(status)) return 'refused';
  const isTransient = status >= 500 || [408, 409, 425, 429].includes(status);
  return isTransient && shouldRetry !== 'false' ? 'transient' : 'misconfigured';
}

/** Parameters that not all providers accept. Some servers name them only in the message. */
const DISPUTED_PARAMETERS = [
  'encoding_format',
  'stream_options',
  'max_completion_tokens',
  'max_tokens',
  'temperature',
];

function refusedParameters(error: unknown): string[] {
  if (!(error instanceof APIError)) return [];
  const { param } = error;
  if (typeof param === 'string' && param !== '') return [param];
  return DISPUTED_PARAMETERS.filter((name) => error.message.includes(name));
}

/** Returns the reply about a prompt or text that is too long; null for any other error. */
export function tooLongOf(error: unknown): TooLong | null {
  return error instanceof APIError ? readTooLong({ code: error.code ?? null, message: error.message }) : null;
}

/** Codes of OpenAI and Azure for a prompt that a content filter refuses. */
const FILTER_CODES = ['content_filter', 'ResponsibleAIPolicyViolation', 'content_policy_violation'];

function isFiltered(error: unknown): boolean {
  return error instanceof APIError && typeof error.code === 'string' && FILTER_CODES.includes(error.code);
}

/** Keeps the code and the network's own error. Other messages may quote a header, and with it the key. */
function describeNetworkError(error: unknown): Error {
  if (error instanceof BadReplyError) return error;
  if (error instanceof APIConnectionError) {
    return new Error('no answer from the provider', { cause: networkCause(error.cause) });
  }
  return new Error(
    `no usable answer from the provider (${error instanceof Error ? error.name : typeof error})`,
  );
}
