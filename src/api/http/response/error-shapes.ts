import { z } from 'zod';
import type { ValidationItem } from '../../../shared/errors.js';

/** An error of ours before it is told. */
interface ToldError {
  readonly status: number;
  readonly detail: string | readonly ValidationItem[];
  /** True where the request carried a header `Authorization` with a bearer token, valid or not. */
  readonly hasToken: boolean;
}

/** The form in which a protocol of others tells errors. Its clients print nothing of errors of any other form. */
export interface ErrorShape {
  readonly body: z.ZodType;
  /** The status that clients of the protocol expect in place of ours. */
  readonly statusOf: (status: number) => number;
  readonly bodyOf: (error: ToldError) => unknown;
}

export const openAIError = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string().describe('The kind of the error, such as `invalid_request_error`.'),
      param: z.string().nullable().describe('The field of the request that is wrong.'),
      code: z.string().nullable(),
    }),
  })
  .meta({ id: 'OpenAIError', description: 'Why the request was refused, as clients of OpenAI read it.' });

export const cohereError = z
  .object({ message: z.string() })
  .meta({ id: 'CohereError', description: 'Why the request was refused, as clients of Cohere read it.' });

export const difyError = z
  .object({
    error_code: z
      .int()
      .describe(
        '`1001`: the header `Authorization` holds no bearer token; `1002`: the token does not permit this; `2001`: there is ' +
          'no such knowledge; else the status of the answer.',
      ),
    error_msg: z.string(),
  })
  .meta({ id: 'DifyError', description: 'Why the request was refused, as Dify reads it.' });

/** Protocols by the beginning of their paths. Everything below it, paths that do not exist included, has their errors. */
const SHAPES: readonly (readonly [prefix: string, shape: ErrorShape])[] = [
  ['/v1', { body: openAIError, statusOf: toOpenAIStatus, bodyOf: toOpenAIError }],
  ['/v2', { body: cohereError, statusOf: (status) => status, bodyOf: toCohereError }],
  ['/dify', { body: difyError, statusOf: (status) => status, bodyOf: toDifyError }],
];

/** Returns the form of errors under a path; null for our own, `{"detail": …}`. */
export function errorShapeOf(path: string): ErrorShape | null {
  const found = SHAPES.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
  return found ? found[1] : null;
}

/** An error as it is sent under a path. */
export function tellError(
  path: string,
  { status, detail, hasToken }: ToldError,
): { readonly status: number; readonly body: unknown } {
  const shape = errorShapeOf(path);
  return shape
    ? { status: shape.statusOf(status), body: shape.bodyOf({ status, detail, hasToken }) }
    : { status, body: { detail } };
}

/**
 * A mistake in a request is a 400 there. A quota is no 507, after which clients send the same again, nor a 429 for the same
 * reason.
 */
function toOpenAIStatus(status: number): number {
  if (status === 422) return 400;
  return status === 507 ? 403 : status;
}

function toOpenAIError({ status, detail }: ToldError): z.infer<typeof openAIError> {
  const [first] = typeof detail === 'string' ? [] : detail;
  const param = first ? paramOf(first) : null;
  const code = first ? codeOf(first) : (CODES[status] ?? null);
  return { error: { message: sentenceOf(detail), type: typeOf(status), param, code } };
}

function typeOf(status: number): string {
  if (status >= 500) return status === 507 ? 'insufficient_quota' : 'server_error';
  return TYPES[status] ?? 'invalid_request_error';
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};
const CODES: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  403: 'insufficient_permissions',
  404: 'not_found',
  405: 'method_not_allowed',
  429: 'rate_limit_exceeded',
  507: 'insufficient_quota',
};

/** Names the kinds of mistakes as OpenAI does. A type that is none of pydantic's is a code by itself. */
function codeOf({ type }: ValidationItem): string {
  if (type === 'value_error.missing') return 'missing_required_parameter';
  if (type === 'value_error.extra') return 'unknown_parameter';
  if (type.startsWith('type_error')) return 'invalid_type';
  return type.startsWith('value_error') ? 'invalid_value' : type;
}

/** Writes a place as `messages[0].content`, without the part of the request that it is in. */
function paramOf({ loc }: ValidationItem): string | null {
  const written = loc
    .slice(1)
    .map((key, place) => (typeof key === 'number' ? `[${String(key)}]` : `${place > 0 ? '.' : ''}${key}`));
  return written.length === 0 ? null : written.join('');
}

/** The mistakes that one sentence lists. */
const MAX_LISTED = 5;

function sentenceOf(detail: ToldError['detail']): string {
  if (typeof detail === 'string') return detail;
  const listed = detail.slice(0, MAX_LISTED).map((item) => {
    const param = paramOf(item);
    return param === null ? item.msg : `${param}: ${item.msg}`;
  });
  return [...listed, ...(detail.length > MAX_LISTED ? ['…'] : [])].join('; ');
}

function toCohereError({ detail }: ToldError): z.infer<typeof cohereError> {
  return { message: sentenceOf(detail) };
}

function toDifyError({ status, detail, hasToken }: ToldError): z.infer<typeof difyError> {
  return { error_code: difyCodeOf(status, hasToken), error_msg: sentenceOf(detail) };
}

function difyCodeOf(status: number, hasToken: boolean): number {
  if (status === 401) return hasToken ? 1002 : 1001;
  if (status === 403) return 1002;
  return status === 404 ? 2001 : status;
}
