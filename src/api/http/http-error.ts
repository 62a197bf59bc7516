import { AppError, type ValidationItem } from '../../shared/errors.js';

/** An error that exists only in HTTP, such as a malformed body or a missing token. It carries its own status. */
export class HttpError extends AppError {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly detail: string | readonly ValidationItem[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    detail: string | readonly ValidationItem[],
    options: { headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(typeof detail === 'string' ? detail : JSON.stringify(detail), { cause: options.cause });
    this.status = status;
    this.detail = detail;
    this.headers = options.headers ?? {};
  }

  get isCallersFault(): boolean {
    return this.status < 500;
  }
}

/** The error for a list in a body that has more items than the route takes. */
export function tooManyItems(name: string, max: number): HttpError {
  const msg = `ensure this value has at most ${String(max)} items`;
  const item = { loc: ['body', name], msg, type: 'value_error.list.max_items', ctx: { limit_value: max } };
  return new HttpError(422, [item]);
}
