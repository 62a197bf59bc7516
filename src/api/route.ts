import type { z } from 'zod';
import type { Caller, Permission } from './auth.js';
import { mapStream } from './leave-stream.js';
import type { Admit } from './services/admission.js';
import type { ReceiveUpload } from './upload.js';

/** What a handler gets: everything validated, nothing of express. */
export interface ApiRequest<Path, Query, Body> {
  readonly caller: Caller;
  readonly path: Path;
  readonly query: Query;
  readonly body: Body;
  /** Only for routes with `upload: true` when the request is multipart/form-data. */
  readonly receiveUpload: ReceiveUpload | null;
  readonly prefer: Prefer;
  readonly requestId: string;
  /** Public address of this service without a trailing slash, for links in answers. */
  readonly baseUrl: string;
  readonly startedAtMs: number;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}

/** RFC 7240; null when the client did not state it (or stated nonsense). */
export interface Prefer {
  readonly waitSeconds: number | null;
  readonly respondAsync: boolean;
}

/** For `open` routes that decide by themselves who may pass. Both throw what refuses. */
export interface Authorize {
  /** By what is known before the body is read: true may pass, false has to show something in the body. */
  readonly byCaller: (caller: Caller) => boolean;
  /** Before the body is validated; undefined if it is unreadable. `address`: who tries, for limits. */
  readonly byBody: (caller: Caller, body: unknown, address: string) => Promise<void>;
}

interface Headers {
  readonly headers?: Readonly<Record<string, string>>;
}

export type ApiReply = Headers &
  (
    | { readonly type: 'json'; readonly status: number; readonly body: unknown }
    /** A JSON array, written item by item so that a large one never blocks the event loop. */
    | { readonly type: 'items'; readonly items: AsyncIterable<unknown> }
    /** Server-sent events; each item becomes one `data:` line of JSON. */
    | { readonly type: 'events'; readonly events: AsyncIterable<unknown> }
    | {
        readonly type: 'download';
        readonly bytes: AsyncIterable<Uint8Array>;
        readonly sizeBytes: number;
        readonly contentType: string;
        readonly filename: string;
      }
  );

/** What is left to wait for when a request's body is needed no more: while it waits, nothing of that is held. */
export interface PendingReply {
  readonly type: 'pending';
  /** Of memory, for what is waited for. */
  readonly heldBytes: number;
  /** Must hold on to no part of the request's body. */
  readonly settled: Promise<ApiReply>;
}

export interface Route<
  Path extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** OpenAPI style: `/documents/{document_id}`. */
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  /** `open`: no token needed. */
  readonly permission: Permission | 'open';
  readonly request: {
    readonly path?: Path;
    readonly query?: Query;
    readonly body?: Body;
    /** Also takes a form, url-encoded or multipart; its values are strings, parsed to what `body` gives. */
    readonly form?: z.ZodType<z.infer<Body>>;
    /** Fields that the query string may hold where the JSON body leaves them out or null; its values are strings. */
    readonly fromQuery?: z.ZodObject;
  };
  /** Largest JSON or form body that it can mean anything by, if that is less than `api.max_json_bytes`. */
  readonly maxBodyBytes?: number;
  /** `object`: an empty body, and one of two quote characters, count as `{}`. */
  readonly emptyBody?: 'object';
  readonly authorize?: Authorize;
  /** Runs before the body is read: throws when there is no room now for what the caller asks. */
  readonly admit?: Admit;
  /** Also (or only) takes multipart/form-data; its fields, for the OpenAPI page. */
  readonly upload?: { readonly fields: z.ZodType; readonly alsoJson: boolean };
  /** What `data:` lines hold, when a request may also be answered with 200 and server-sent events. */
  readonly events?: z.ZodType;
  /** Bodies by status, from which the OpenAPI page is made and against which tests hold every response. */
  readonly responses: Readonly<Record<number, z.ZodType | 'download' | 'events'>>;
  readonly handle: (
    request: ApiRequest<z.infer<Path>, z.infer<Query>, z.infer<Body>>,
  ) => Promise<ApiReply | PendingReply>;
}

/**
 * Infers a route's request types from its schemas; the array of routes holds them erased: `handle` is only ever
 * called with what the route's own schemas parsed.
 */
export function defineRoute<Path extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  route: Route<Path, Query, Body>,
): Route {
  return route;
}

/** What is waited for, and what it holds meanwhile. */
interface Waiting<Value> {
  readonly heldBytes: number;
  readonly settled: Promise<Value>;
}

export const reply = {
  json: (status: number, body: unknown, headers: Record<string, string> = {}): ApiReply => ({
    type: 'json',
    ...{ status, body, headers },
  }),
  /** Must be made where `view` can reach nothing of the body. */
  pending: <Value>(
    { heldBytes, settled }: Waiting<Value>,
    view: (value: Value) => ApiReply,
  ): PendingReply => ({
    type: 'pending',
    ...{ heldBytes, settled: settled.then(view) },
  }),
  /** A JSON array of what `view` makes of each item, as it is sent. */
  items: <Item>(items: AsyncIterable<Item>, view: (item: Item) => unknown): ApiReply => ({
    type: 'items',
    items: mapStream(items, view),
  }),
};
