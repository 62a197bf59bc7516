import type { components } from './openapi.js';

/** A field that the service refused: its place, what is wrong with it, and the kind of mistake. */
export type FieldError = components['schemas']['ValidationItem'];

interface QuireErrorParts {
  readonly status: number | null;
  readonly detail: string;
  readonly errors?: readonly FieldError[];
  readonly headers?: Headers;
  readonly cause?: unknown;
}

/** A call that failed: the service refused it, or no whole answer came. */
export class QuireError extends Error {
  override readonly name = 'QuireError';
  /** The HTTP status; null where no whole answer came. */
  readonly status: number | null;
  /** The sentence of the service. */
  readonly detail: string;
  /** The refused fields of a 422; else empty. */
  readonly errors: readonly FieldError[];
  /** The id under which the service logged the request; null where no answer came. */
  readonly requestId: string | null;
  /** The headers of the answer, such as `Retry-After` or the `Location` of a document that could not be read. */
  readonly headers: Headers;

  constructor({ status, detail, errors = [], headers = new Headers(), cause }: QuireErrorParts) {
    super(status === null ? detail : `${String(status)}: ${detail}`, { cause });
    this.status = status;
    this.detail = detail;
    this.errors = errors;
    this.headers = headers;
    this.requestId = headers.get('X-Request-Id');
  }
}

/** Reads the error out of an answer: `{"detail": …}`, or whatever a proxy between says. */
export async function readError(response: Response): Promise<QuireError> {
  const { status, headers } = response;
  const body = parse(await response.text());
  const detail = typeof body === 'object' && body !== null && 'detail' in body ? body.detail : null;
  const errors = Array.isArray(detail) ? detail.filter(isFieldError) : [];
  const told = errors.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
  const sentence = typeof detail === 'string' ? detail : told;
  // HTTP/2 has no sentence beside the status.
  const known = [sentence, response.statusText].find((text) => text !== '') ?? 'No reason given';
  return new QuireError({ status, detail: known, errors, headers });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isFieldError = (item: unknown): item is FieldError =>
  typeof item === 'object' &&
  item !== null &&
  'loc' in item &&
  Array.isArray(item.loc) &&
  'msg' in item &&
  typeof item.msg === 'string' &&
  'type' in item &&
  typeof item.type === 'string';
