/** What a caller did wrong or must wait for: carries the HTTP status and a `detail` that is safe to show. */
export class AppError extends Error {
  readonly status: number;
  readonly detail: string | readonly ValidationItem[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    detail: string | readonly ValidationItem[],
    options: { headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(typeof detail === 'string' ? detail : JSON.stringify(detail), { cause: options.cause });
    this.name = 'AppError';
    this.status = status;
    this.detail = detail;
    this.headers = options.headers ?? {};
  }
}

/** One failed check of a request, in the vocabulary of pydantic 1. */
export interface ValidationItem {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
  readonly ctx?: { readonly limit_value: number };
}

/** Something we need does not answer right now (Redis, index, provider): 503 for a caller, "later" for a job. */
export class UnavailableError extends Error {
  readonly retryAfterSeconds: number;

  constructor(component: string, options: { retryAfterSeconds?: number; cause?: unknown } = {}) {
    super(`${component} is unavailable`, { cause: options.cause });
    this.name = 'UnavailableError';
    this.retryAfterSeconds = options.retryAfterSeconds ?? 2;
  }
}

export const FAILURE_CODES = [
  'empty_document',
  'no_text',
  'encrypted',
  'corrupt',
  'too_large',
  'timeout',
  'provider',
  'internal',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/** A document that can never be ingested as it is: the job ends and the document is `failed` with this code. */
export class IngestError extends Error {
  readonly code: FailureCode;

  /** @param message shown to the document's owner: no paths, no stacks, no content. */
  constructor(code: FailureCode, message: string, options: { cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'IngestError';
    this.code = code;
  }
}
