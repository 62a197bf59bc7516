import { QuireError, readError } from './quire-error.js';

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, which then fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** After how many milliseconds the whole call fails, with all that is repeated and read. */
  readonly timeout?: number | undefined;
  /** How often a request is repeated that may be. */
  readonly retries?: number | undefined;
  /** Headers of this request alone, such as `If-Match`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How many seconds (at most 120) the service may wait until it answers 202; false for no wait. */
  readonly wait?: number | false | undefined;
  /** For routes that heed one, which otherwise get a random one. */
  readonly idempotencyKey?: string | undefined;
}

export interface Connection {
  readonly url: string;
  readonly token: string | (() => string | Promise<string>) | null;
  readonly fetch: typeof fetch;
  readonly retries: number;
  readonly timeout: number;
}

/** The content of a request. */
export interface Payload {
  readonly type: string;
  /** Called once for each time that the request is sent. */
  readonly open: () => BodyInit | Promise<BodyInit>;
  /** True while `open` can give the same content again. */
  readonly canRepeat: () => boolean;
}

export interface Outgoing {
  readonly method: string;
  /** Path and query string. */
  readonly path: string;
  readonly payload: Payload | null;
  /** True where it does no harm that the service gets the request twice. */
  readonly isRepeatable: boolean;
  readonly isKeyed: boolean;
}

/** Reads an answer. One that breaks off meanwhile is asked for again like one that did not come. */
export type Read<Result> = (response: Response) => Promise<Result>;

/** Statuses that say that the same request may succeed later. A conflict does so where `Retry-After` stands with it. */
const TRY_LATER = [429, 502, 503, 504];
const CONFLICT = 409;
const FIRST_PAUSE_MILLISECONDS = 500;
const LONGEST_PAUSE_MILLISECONDS = 30_000;
/** The longest time that a timer can be set to. */
const LONGEST_TIMER_MILLISECONDS = 2 ** 31 - 1;

/** Sends a request, and again while that is safe and may help. @throws QuireError, or the reason of the caller's signal */
export async function send<Result>(
  connection: Connection,
  outgoing: Outgoing,
  read: Read<Result>,
  options: CallOptions,
): Promise<Result> {
  const { retries = connection.retries, timeout = connection.timeout, signal } = options;
  const deadline = startDeadline(timeout, signal);
  const request = { ...outgoing, headers: headersOf(outgoing, options), signal: deadline.signal };
  try {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await sendOnce(connection, request, read);
      } catch (error) {
        if (deadline.signal.aborted) throw deadline.signal.reason;
        const pause = attempt < retries && mayRepeat(outgoing) ? pauseAfter(error, attempt) : null;
        if (pause === null) throw error;
        await sleep(pause, deadline.signal);
      }
    }
  } finally {
    deadline.clear();
  }
}

const mayRepeat = ({ isRepeatable, isKeyed, payload }: Outgoing) =>
  (isRepeatable || isKeyed) && (payload === null || payload.canRepeat());

/** Returns how long to wait before the request is sent again; null where that would not help, or takes too long. */
function pauseAfter(error: unknown, attempt: number): number | null {
  if (!(error instanceof QuireError)) return null;
  const { status, headers } = error;
  const seconds = headers.get('Retry-After');
  const isPassing =
    status === null || TRY_LATER.includes(status) || (status === CONFLICT && seconds !== null);
  if (!isPassing) return null;
  // Callers who were refused together do not come back together.
  const jitter = 0.5 + Math.random() / 2;
  const usual = Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** attempt, LONGEST_PAUSE_MILLISECONDS) * jitter;
  const asked = seconds === null ? NaN : Number(seconds) * 1000;
  if (Number.isNaN(asked)) return usual;
  return asked > LONGEST_PAUSE_MILLISECONDS ? null : asked + usual * jitter;
}

type Sending = Outgoing & { readonly headers: Headers; readonly signal: AbortSignal };

async function sendOnce<Result>(
  connection: Connection,
  sending: Sending,
  read: Read<Result>,
): Promise<Result> {
  const { method, path, payload, signal } = sending;
  const headers = await withToken(connection, sending.headers);
  const body = payload === null ? null : await payload.open();
  const stream = body instanceof ReadableStream ? { duplex: 'half' } : {};
  const { fetch } = connection;
  try {
    // A redirection would turn a POST into a GET, or show the token to another server.
    const init: RequestInit = { method, headers, body, signal, redirect: 'error', ...stream };
    const response = await fetch(connection.url + path, init);
    if (!response.ok) throw await readError(response);
    return await read(response);
  } catch (error) {
    if (error instanceof QuireError) throw error;
    const detail = `No whole answer from ${connection.url}: ${reasonOf(error)}`;
    throw new QuireError({ status: null, detail, cause: error });
  }
}

/** Returns the innermost message: `fetch` itself says no more than that it failed. */
function reasonOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error);
  const isOuter = 'cause' in error && error.cause !== undefined;
  return isOuter ? reasonOf(error.cause) : String(error.message);
}

async function withToken({ token }: Connection, headers: Headers): Promise<Headers> {
  const current = typeof token === 'function' ? await token() : token;
  const all = new Headers(headers);
  if (current !== null) all.set('Authorization', `Bearer ${current}`);
  return all;
}

function headersOf({ payload, isKeyed }: Outgoing, options: CallOptions): Headers {
  const { wait, idempotencyKey, headers } = options;
  // A misspelt field is refused rather than ignored, also where no compiler looks.
  const prefer = ['handling=strict'];
  if (wait !== undefined) prefer.push(wait === false ? 'respond-async' : `wait=${String(wait)}`);
  const all = new Headers({ Accept: 'application/json, */*;q=0.5', Prefer: prefer.join(', ') });
  if (payload !== null) all.set('Content-Type', payload.type);
  if (isKeyed) all.set('Idempotency-Key', idempotencyKey ?? randomKey());
  for (const [name, value] of Object.entries(headers ?? {})) all.set(name, value);
  return all;
}

/** 128 random bits. `crypto.randomUUID` is missing on pages that came without TLS. */
const randomKey = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

function startDeadline(milliseconds: number, signal: AbortSignal | undefined) {
  const late = new AbortController();
  const onLate = () => {
    const detail = `No whole answer within ${String(milliseconds)} ms`;
    late.abort(new QuireError({ status: null, detail }));
  };
  const timer = milliseconds > LONGEST_TIMER_MILLISECONDS ? undefined : setTimeout(onLate, milliseconds);
  return {
    signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
    clear: () => {
      clearTimeout(timer);
    },
  };
}

/** @throws the reason of the signal */
export function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      // @NOTE a signal may have any reason, which is what its owner expects to catch.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
