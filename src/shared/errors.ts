/** What a caller did wrong or must wait for. Its message is safe to show. */
export abstract class AppError extends Error {
  /** False when the caller asked for nothing wrong, and can only come again. */
  abstract readonly isCallersFault: boolean;
}

export type DomainErrorKind =
  | 'impossible'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'too_large'
  | 'unsupported_type'
  | 'invalid_field'
  | 'too_many'
  | 'try_later';

interface DomainErrorOptions {
  /** When it makes sense to ask again, if the caller is to be told. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** What the service itself refuses, in words of its own: only the border to the caller knows how that is told. */
export abstract class DomainError extends AppError {
  abstract readonly kind: DomainErrorKind;
  readonly retryAfterSeconds: number | null;

  constructor(message: string, options: DomainErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }

  get isCallersFault(): boolean {
    return this.kind !== 'try_later';
  }
}

/** What is asked is understood and cannot be done: no documents to make a cache of, a question longer than the model reads. */
export class ImpossibleError extends DomainError {
  override readonly name = 'ImpossibleError';
  override readonly kind = 'impossible';
}

/** The caller may not do this. */
export class ForbiddenError extends DomainError {
  override readonly name = 'ForbiddenError';
  override readonly kind = 'forbidden';
}

export class NotFoundError extends DomainError {
  override readonly name = 'NotFoundError';
  override readonly kind = 'not_found';
}

/** What is asked does not fit the present state of what it is about. */
export class ConflictError extends DomainError {
  override readonly name = 'ConflictError';
  override readonly kind = 'conflict';
}

/** Something was given that has more bytes than are taken. */
export class TooLargeError extends DomainError {
  override readonly name = 'TooLargeError';
  override readonly kind = 'too_large';
}

/** A file was given of a type that is not read. */
export class UnsupportedTypeError extends DomainError {
  override readonly name = 'UnsupportedTypeError';
  override readonly kind = 'unsupported_type';
}

/** The limit that a value exceeds. */
export interface ExceededLimit {
  readonly value: number;
  readonly of: 'items' | 'bytes';
}

/** The value of one field cannot be taken, which only what is stored already tells. */
export class InvalidFieldError extends DomainError {
  override readonly name = 'InvalidFieldError';
  override readonly kind = 'invalid_field';
  readonly field: string;
  readonly limit: ExceededLimit;

  constructor(field: string, message: string, limit: ExceededLimit) {
    super(message);
    this.field = field;
    this.limit = limit;
  }
}

/** The caller does something too often, or has too much under way. */
export class TooManyError extends DomainError {
  override readonly name = 'TooManyError';
  override readonly kind = 'too_many';
}

/** There is no room for it now, or it failed for reasons of ours: the same may succeed later. */
export class TryLaterError extends DomainError {
  override readonly name = 'TryLaterError';
  override readonly kind = 'try_later';
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
