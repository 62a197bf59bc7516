import { IngestError, toError, UnavailableError } from '../../errors.js';
import { BadReplyError } from '../../provider-http/bad-reply-error.js';
import { isPlainWord } from '../../provider-http/error-body.js';
import { readTooLong, type TooLong } from '../../provider-http/too-long.js';
import { UnusableClassError } from './load-class.js';

/** The meaning of a failed call for the next one. */
export interface Failure {
  readonly kind: 'refused' | 'transient' | 'misconfigured';
  readonly status: number | null;
  readonly retryAfterMilliseconds: number | null;
  /** Safe to log: providers quote keys and texts in their messages, so none of these messages is kept. */
  readonly cause: Error;
}

const MISCONFIGURED_RETRY_SECONDS = 60;
const BAD_REPLY_RETRY_SECONDS = 30;

/** Error codes that are about the setup, whatever the status. */
const SETUP_CODES = [
  'model_not_found',
  'invalid_api_key',
  'insufficient_quota',
  'billing_hard_limit_reached',
];

/** Describes an error of any package: the clients below LangChain put status, code and headers in different places. */
export function describeFailure(error: unknown, now: number = Date.now()): Failure {
  const chain = chainOf(error);
  const status = first(chain, statusOf);
  const code = first(chain, codeOf);
  const retryAfterMilliseconds = first(chain, (each) => retryAfterOf(each, now));
  const words = code === null ? '' : ` (${code})`;
  if (status === null) {
    const { name } = toError(error);
    const said = code ?? (isPlainWord(name) ? name : 'Error');
    const cause =
      error instanceof BadReplyError ? error : new Error(`no usable answer from the provider (${said})`);
    return { kind: 'transient', status, retryAfterMilliseconds, cause };
  }
  const cause = new Error(`the provider answered ${String(status)}${words}`);
  return { kind: kindOf(status, code), status, retryAfterMilliseconds, cause };
}

function kindOf(status: number, code: string | null): Failure['kind'] {
  if (code !== null && SETUP_CODES.includes(code)) return 'misconfigured';
  if ([400, 413, 422].includes(status)) return 'refused';
  return status >= 500 || [408, 409, 425, 429].includes(status) ? 'transient' : 'misconfigured';
}

/** The error for callers and jobs: the same request may succeed later. */
export function unavailable(component: string, { kind, cause, retryAfterMilliseconds }: Failure) {
  if (retryAfterMilliseconds !== null) {
    const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMilliseconds / 1_000));
    return new UnavailableError(component, { cause, retryAfterSeconds });
  }
  if (cause instanceof BadReplyError) {
    return new UnavailableError(component, { cause, retryAfterSeconds: BAD_REPLY_RETRY_SECONDS });
  }
  if (kind === 'transient') return new UnavailableError(component, { cause });
  return new UnavailableError(component, { cause, retryAfterSeconds: MISCONFIGURED_RETRY_SECONDS });
}

/** Tells whether an error is already one of our own. */
export function isTranslated(error: unknown): error is Error {
  return (
    error instanceof UnavailableError || error instanceof IngestError || error instanceof UnusableClassError
  );
}

/** Tells whether a refusal is about this parameter. Some servers name it only in the message, which is read and never kept. */
export function namesParameter(error: unknown, parameter: string): boolean {
  return chainOf(error).some((each) => {
    const param = each['param'];
    if (typeof param === 'string' && param !== '') return param === parameter;
    return typeof each['message'] === 'string' && each['message'].includes(parameter);
  });
}

/** Returns the reply about a prompt or text that is too long; null for any other error. */
export function tooLongOf(error: unknown): TooLong | null {
  const chain = chainOf(error);
  const code = first(chain, codeOf);
  const said = chain.flatMap(({ message }) => (typeof message === 'string' ? [message] : []));
  return readTooLong({ code, message: said.join('\n') });
}

type Layer = Readonly<Record<string, unknown>>;
const MAX_LAYERS = 16;
/** Fields where clients keep the provider's answer. */
const INNER = ['cause', 'error', 'response', '$metadata', '$response', 'rawResponse'];

/** Returns the error and its causes, the outermost first. */
function chainOf(error: unknown): Layer[] {
  const found: Layer[] = [];
  const waiting: unknown[] = [error];
  while (waiting.length > 0 && found.length < MAX_LAYERS) {
    const next = waiting.shift();
    if (!isLayer(next) || found.includes(next)) continue;
    found.push(next);
    waiting.push(...INNER.map((name) => next[name]));
  }
  return found;
}

function isLayer(value: unknown): value is Layer {
  return typeof value === 'object' && value !== null;
}

function first<Found>(chain: readonly Layer[], find: (layer: Layer) => Found | null): Found | null {
  for (const layer of chain) {
    const found = find(layer);
    if (found !== null) return found;
  }
  return null;
}

function statusOf(layer: Layer): number | null {
  const named = ['status', 'statusCode', 'status_code', 'httpStatusCode', 'code'].map((name) => layer[name]);
  return (
    named.filter((value) => typeof value === 'number').find((value) => value >= 400 && value < 600) ?? null
  );
}

function codeOf({ code, type }: Layer): string | null {
  if (isPlainWord(code)) return code;
  // The type of an error is like `rate_limit_error`; the type of a response, such as `basic`, says nothing.
  return isPlainWord(type) && type.includes('_') ? type : null;
}

function retryAfterOf({ headers, retryAfterMs }: Layer, now: number): number | null {
  const read = (name: string) => headerOf(headers, name);
  const milliseconds = Number.parseFloat(read('retry-after-ms'));
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds);
  const value = read('retry-after').trim();
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1_000;
  const date = Date.parse(value);
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : null;
}

function headerOf(headers: unknown, name: string): string {
  if (!isLayer(headers)) return '';
  if (isHeaders(headers)) return headers.get(name) ?? '';
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  return typeof entry?.[1] === 'string' ? entry[1] : '';
}

/** Clients have classes of their own for headers, which are no instances of `Headers`. */
function isHeaders(value: object): value is Pick<Headers, 'get'> {
  return 'get' in value && typeof value.get === 'function';
}
