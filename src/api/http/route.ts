import type { z } from 'zod';
import type { Caller, Permission } from '../auth/auth.js';
import type { Admit } from '../services/ingest/admission.js';
import type { ApiReply, DeclaredReply, PendingReply, Replies, reply, Responses } from './reply/reply.js';
import type { ReceiveUpload } from './request/upload.js';

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

/** What a route says of itself. */
interface Declaration<
  Path extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Declared extends Responses,
  Events extends z.ZodType,
> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** OpenAPI style: `/documents/{document_id}`. */
  readonly path: string;
  readonly summary: string;
  /** What the summary leaves out, in whole sentences, for the OpenAPI page. */
  readonly description?: string;
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
  readonly events?: Events;
  /** Bodies by status, from which the OpenAPI page is made and against which tests hold every response. */
  readonly responses: Declared;
}

/** Values that a route takes and answers, for the OpenAPI page. A test sends each request and validates each answer. */
interface Examples<
  Path extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Declared extends Responses,
  Events extends z.ZodType,
> {
  readonly path?: z.input<Path>;
  readonly query?: z.input<Query>;
  /** Serves as the form, too, and its fields as parameters where the query string may hold them. */
  readonly body?: z.input<Body>;
  /** The fields of a multipart upload; that of the file holds its text. */
  readonly upload?: Readonly<Record<string, string>>;
  /** One for each declared status. Statuses that the kind of route implies have examples of their own. */
  readonly responses: {
    readonly [Status in keyof Declared]: Declared[Status] extends z.ZodType
      ? z.output<Declared[Status]>
      : string;
  };
  readonly events?: readonly z.output<Events>[];
}

/** The examples of any route. */
export interface RouteExamples {
  readonly path?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
  readonly upload?: Readonly<Record<string, string>>;
  readonly responses: Readonly<Record<number, unknown>>;
  readonly events?: readonly unknown[];
}

/** A route as the server runs it: `handle` is only ever called with what the route's own schemas parsed. */
export interface Route extends Declaration<z.ZodType, z.ZodType, z.ZodType, Responses, z.ZodType> {
  readonly examples?: RouteExamples;
  readonly handle: (
    request: ApiRequest<unknown, unknown, unknown>,
    reply: Reply,
  ) => Promise<ApiReply | PendingReply>;
}

type Reply = typeof reply;

/** A route as it is written: its handler gets what its schemas parse, and answers only what it declares. */
interface RouteDefinition<
  Path extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Declared extends Responses,
  Events extends z.ZodType,
> extends Declaration<Path, Query, Body, Declared, Events> {
  /** Every route of the service has them, which a test demands; a route that only a test makes may go without. */
  readonly examples?: Examples<Path, Query, Body, NoInfer<Declared>, NoInfer<Events>>;
  readonly handle: (
    request: ApiRequest<z.infer<Path>, z.infer<Query>, z.infer<Body>>,
    reply: Replies<Declared, Events>,
  ) => Promise<DeclaredReply<Declared, Events> | PendingReply<DeclaredReply<Declared, Events>>>;
}

/** Infers the types of a route's requests and answers from its schemas; the list of routes holds them erased. */
export function defineRoute<
  Path extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  const Declared extends Responses,
  Events extends z.ZodType = never,
>(route: RouteDefinition<Path, Query, Body, Declared, Events>): Route {
  // @NOTE the list of routes holds them erased, which is safe: the server calls each with what its own schemas parse.
  return route as unknown as Route;
}
