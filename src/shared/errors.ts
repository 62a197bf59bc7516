/** An error that is told to the caller. Its message is safe to show. */
export abstract class AppError extends Error {
  /** False when the request was right and can only be repeated later. */
  abstract readonly isCallersFault: boolean;
}

export type DomainErrorKind =
  | 'impossible'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'changed'
  | 'too_large'
  | 'unsupported_type'
  | 'invalid_field'
  | 'too_many'
  | 'over_quota'
  | 'try_later';

interface DomainErrorOptions {
  /** When it makes sense to ask again; absent when the caller is not told. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** An error that the service raises in its own terms. Only the HTTP border decides how callers are told. */
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

/** The request is understood but cannot be done, such as a cache without documents or a question that the model cannot read. */
export class ImpossibleError extends DomainError {
  override readonly name = 'ImpossibleError';
  override readonly kind = 'impossible';
}

/** A prompt has more tokens than the model reads, by the model's own count. */
export class PromptTooLongError extends ImpossibleError {
  /** Tokens of prompt and completion together that the model reads, where the provider says it. */
  readonly window: number | null;

  constructor({
    window = null,
    ...options
  }: { readonly window?: number | null; readonly cause?: unknown } = {}) {
    super(
      'The query with its documents takes more tokens than the model reads, which is less than completion.context_window',
      options,
    );
    this.window = window;
  }
}

/** The provider's content filter withheld the whole answer, or refused to read the prompt. */
export class ContentFilterError extends ImpossibleError {
  constructor(options: { readonly cause?: unknown } = {}) {
    super(
      'The content filter of the completion provider lets no answer to this query and its documents pass',
      options,
    );
  }
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

/** The request does not fit the present state of its subject. */
export class ConflictError extends DomainError {
  override readonly name = 'ConflictError';
  override readonly kind = 'conflict';
}

/** The document is in another state than the caller's `If-Match` demands. */
export class ChangedError extends DomainError {
  override readonly name = 'ChangedError';
  override readonly kind = 'changed';

  constructor() {
    super('The document is not in the state that If-Match names');
  }
}

/** The caller has a document of the same content already, and asked not to make another one. */
export class DuplicateError extends DomainError {
  override readonly name = 'DuplicateError';
  override readonly kind = 'conflict';
  readonly documentId: string;

  constructor(documentId: string) {
    super(`You have this content already, as document ${documentId}`);
    this.documentId = documentId;
  }
}

/** The document that had the content, and was to be answered, was deleted before the answer. The content is new again. */
export class DuplicateDeletedError extends DomainError {
  override readonly name = 'DuplicateDeletedError';
  override readonly kind = 'conflict';

  constructor() {
    super('The document of this content was deleted meanwhile: send the content again', {
      retryAfterSeconds: 1,
    });
  }
}

/** The request has more bytes than are accepted. */
export class TooLargeError extends DomainError {
  override readonly name = 'TooLargeError';
  override readonly kind = 'too_large';
}

/** The file has a type that is not read. */
export class UnsupportedTypeError extends DomainError {
  override readonly name = 'UnsupportedTypeError';
  override readonly kind = 'unsupported_type';
}

/** The limit that was exceeded. */
export interface ExceededLimit {
  readonly value: number;
  readonly of: 'items' | 'bytes' | 'characters';
}

/** The value of a field is refused because of stored data. */
export class InvalidFieldError extends DomainError {
  override readonly name = 'InvalidFieldError';
  override readonly kind = 'invalid_field';
  readonly field: string;
  readonly limit: ExceededLimit;
  /** The part of a request where the field is. */
  readonly place: 'body' | 'path';

  constructor(field: string, message: string, limit: ExceededLimit, place: 'body' | 'path' = 'body') {
    super(message);
    this.field = field;
    this.limit = limit;
    this.place = place;
  }
}

/** The line of this number was another one when a stream with the same `Idempotency-Key` was sent before. */
export class OtherLineError extends DomainError {
  override readonly name = 'OtherLineError';
  override readonly kind = 'invalid_field';

  constructor() {
    super('this key was used for another line of this number already');
  }
}

/** The caller does something too often, or has too much under way. */
export class TooManyError extends DomainError {
  override readonly name = 'TooManyError';
  override readonly kind = 'too_many';
}

/** The amounts that a quota bounds for an owner: documents, bytes of their sources, and chunks. */
export const QUOTAS = ['documents', 'bytes', 'chunks'] as const;
export type Quota = (typeof QUOTAS)[number];

/** The owner of a document has all that they may have. Nothing changes that but a deletion. */
export class OverQuotaError extends DomainError {
  override readonly name = 'OverQuotaError';
  override readonly kind = 'over_quota';
  readonly quota: Quota;

  constructor(quota: Quota, most: number) {
    super(`The quota of ${quota} is reached: ${String(most)}`);
    this.quota = quota;
  }
}

/** There is no room now, or something of ours failed. The same request may succeed later. */
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

/** A component that is needed (Redis, index, provider) does not answer now. Callers get a 503, and jobs are put off. */
export class UnavailableError extends Error {
  readonly retryAfterSeconds: number;

  constructor(component: string, options: { retryAfterSeconds?: number; cause?: unknown } = {}) {
    super(`${component} is unavailable`, { cause: options.cause });
    this.name = 'UnavailableError';
    this.retryAfterSeconds = options.retryAfterSeconds ?? 2;
  }
}

/** The reason why a provider gave no scores: it is away, it refused the request, or it answered something else. */
export type RerankFailure = 'unavailable' | 'refused' | 'bad_reply';

/** A reranker gave no scores. */
export class RerankError extends UnavailableError {
  readonly failure: RerankFailure;
  /** The wait that the provider has asked for; null when it asked for none. */
  readonly pauseSeconds: number | null;

  constructor(failure: RerankFailure, options: { pauseSeconds?: number | null; cause?: unknown } = {}) {
    const { pauseSeconds = null, cause } = options;
    super('reranker', { cause, ...(pauseSeconds === null ? {} : { retryAfterSeconds: pauseSeconds }) });
    this.name = 'RerankError';
    this.failure = failure;
    this.pauseSeconds = pauseSeconds;
  }
}

/** No version of this service wrote such a record: it was damaged, or changed by hand. */
export class MalformedRecordError extends Error {
  override readonly name = 'MalformedRecordError';
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

/** A document cannot be ingested as it is. The job ends, and the document becomes `failed` with this code. */
export class IngestError extends Error {
  readonly code: FailureCode;

  /** @param message is shown to the document's owner, and must hold no paths, stacks or content */
  constructor(code: FailureCode, message: string, options: { cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'IngestError';
    this.code = code;
  }
}

/** A text has more tokens than an embedding model reads, by the model's own count. */
export class TextTooLongError extends IngestError {
  /** Tokens that the model reads, where the provider says it. */
  readonly window: number | null;

  constructor(window: number | null, options: { cause?: unknown } = {}) {
    super('provider', 'the embedding provider refuses even short parts of a text as too long', options);
    this.window = window;
  }
}

/** Returns the thrown value, or the reason of an abort, as an error. Almost always it is one. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('aborted', { cause: thrown });
}

/** The data in Redis does not fit this program or its settings, so that the process must not start. */
export class IncompatibleDataError extends Error {
  override readonly name = 'IncompatibleDataError';
}
