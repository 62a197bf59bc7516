import jsonwebtoken from 'jsonwebtoken';
import { z } from 'zod';
import { ndjson } from '../support/batches.js';
import { TEST_SECRET } from '../support/client.js';
import type { Cluster } from './cluster.js';
import type { History } from './history.js';

/** The outcome of a request. */
export type Outcome =
  | {
      readonly type: 'answer';
      readonly status: number;
      readonly headers: Headers;
      readonly text: string;
      readonly bytes: Uint8Array;
      readonly json: unknown;
    }
  /** Nobody listened: nothing was done. */
  | { readonly type: 'refused' }
  /** It began, and no whole answer came: it was done, or will be until `over`, or not. */
  | {
      readonly type: 'broken';
      readonly over: Promise<void>;
      /** The part of the answer that came, and whether it consists of lines, each of which is whole by itself. */
      readonly text: string;
      readonly isLines: boolean;
    };

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly json?: unknown;
  /** Sent as lines of JSON, in one piece. */
  readonly lines?: readonly unknown[];
  readonly form?: FormData;
  readonly headers?: Readonly<Record<string, string>>;
  /** API process to ask, by its place. */
  readonly api: number;
  /** Without: none is sent. */
  readonly caller?: string;
  /** Gives up after this many milliseconds, as callers do. */
  readonly giveUpAfter?: number;
}

/** Longer than any fault lasts and any wait takes, together. */
const HANGS_AFTER_MS = 90_000;

export type Exchange = (sent: Sent) => Promise<Outcome>;

/** Sends requests and holds each answer against the contract's rules for all of them. */
export function createExchange(cluster: Cluster, history: History): Exchange {
  const tokens = new Map<string, string>();
  const tokenOf = (caller: string) => {
    const known = tokens.get(caller) ?? makeToken(caller);
    tokens.set(caller, known);
    return known;
  };

  return async (sent) => {
    const api = cluster.api(sent.api);
    const headers = new Headers(sent.headers);
    if (sent.caller !== undefined) headers.set('authorization', `Bearer ${tokenOf(sent.caller)}`);
    if (sent.json !== undefined) headers.set('content-type', 'application/json');
    if (sent.lines !== undefined) headers.set('content-type', 'application/x-ndjson');
    const received: Uint8Array[] = [];
    let isLines = false;
    const signal = AbortSignal.timeout(sent.giveUpAfter ?? HANGS_AFTER_MS);
    const url = sent.path.startsWith('http') ? sent.path : api.url + sent.path;
    try {
      const response = await fetch(url, { method: sent.method, headers, body: bodyOf(sent), signal });
      isLines = response.headers.get('content-type') === 'application/x-ndjson';
      for await (const piece of piecesOf(response)) received.push(piece);
      const bytes = new Uint8Array(Buffer.concat(received));
      const text = Buffer.from(bytes).toString('utf8');
      const json = isJson(response) ? parseJson(text) : undefined;
      if (isJson(response) && json === undefined && endsWithConnection(response))
        throw new Error('the body was cut off');
      const flaw = flawOf(response, json);
      const name = `${sent.method} ${sent.path.replace(/\?.*/, '')}`;
      if (flaw !== null)
        history.violate(
          'every answer keeps the contract',
          `${name}: ${String(response.status)}: ${flaw}: ${text.slice(0, 300)}`,
        );
      if (isRefusedForRoom(sent, response.status, text))
        history.violate('deleting always works', `${name}: ${String(response.status)} ${text.slice(0, 200)}`);
      return { type: 'answer', status: response.status, headers: response.headers, text, bytes, json };
    } catch (error) {
      if (isRefused(error)) return { type: 'refused' };
      if (sent.giveUpAfter === undefined && signal.aborted)
        history.violate(
          'no request hangs',
          `${sent.method} ${sent.path} to api ${String(sent.api)}: no answer in ${String(HANGS_AFTER_MS / 1000)} s`,
        );
      // The handler may go on as long as its process lives.
      return { type: 'broken', over: api.ended(), text: Buffer.concat(received).toString('utf8'), isLines };
    }
  };
}

function bodyOf({ json, lines, form }: Sent): FormData | string | null {
  if (lines !== undefined) return ndjson(lines);
  return form ?? (json === undefined ? null : JSON.stringify(json));
}

/** Returns the bytes of an answer as they come, some of which may have come before it breaks off. */
async function* piecesOf({ body }: Response): AsyncGenerator<Uint8Array> {
  // @NOTE the type of such a stream leaves open what its pieces are; the pieces of an answer are bytes.
  if (body) yield* body as AsyncIterable<Uint8Array>;
}

function makeToken(caller: string): string {
  const claims = { entity_id: caller, permissions: ['read', 'write'] };
  return jsonwebtoken.sign(claims, TEST_SECRET, { expiresIn: '2h' });
}

const isJson = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('application/json') === true;

/** `fetch` takes a body in chunks for whole that is cut off, if the connection was to be closed after it. */
const endsWithConnection = ({ headers }: Response): boolean =>
  headers.get('connection') === 'close' && headers.get('content-length') === null;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRefused(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === 'ECONNREFUSED';
}

const item = z.object({ loc: z.array(z.string().or(z.number())).min(1), msg: z.string(), type: z.string() });
const errorBody = z.strictObject({ detail: z.string().min(1) });
const validationBody = z.strictObject({ detail: z.array(item).min(1).or(z.string()) });

/** A removal may fail with a service that is down, but it needs no room. */
const isRefusedForRoom = ({ method }: Sent, status: number, text: string): boolean =>
  method === 'DELETE' && (status === 507 || (status === 503 && /room|disk|memory|quota/i.test(text)));

/** Returns the fault of an answer, whatever was asked; null for none. */
function flawOf(response: Response, json: unknown): string | null {
  const { status, headers } = response;
  if (headers.get('x-request-id') === null) return 'no X-Request-Id';
  const isDownload = headers.has('content-disposition');
  if (isJson(response) && json === undefined && !isDownload)
    return `no JSON, ${JSON.stringify([...headers])}`;
  // Without quotas there is none to be reached.
  if (status === 507) return JSON.stringify(json).includes('quota') ? null : 'a quota that nobody set';
  if (status >= 500 && status !== 503) return 'a failure of the service';
  if (status === 503 && !/^\d+$/.test(headers.get('retry-after') ?? '')) return 'no Retry-After';
  if (status < 400) return null;
  const schema = status === 422 ? validationBody : errorBody;
  return schema.safeParse(json).success ? null : 'its body is none of an error';
}
