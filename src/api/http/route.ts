import type { IncomingHttpHeaders } from 'node:http';
import type { RequestAction } from '../../shared/audit/entry.js';
import type { z } from 'zod';
import type { Caller, Permission } from '../auth/authentication.js';
import type { Arrival } from '../services/ingest/admission/admission.js';
import type { RequestContext } from '../services/request-context.js';
import type { ApiReply, DeclaredReply, PendingReply, Replies, reply, Responses } from './response/reply.js';
import type { IgnoredFields } from './unknown-fields.js';
import type { ReceiveItems } from './request/items/receive-items.js';
import type { Prefer } from './request/headers.js';
import type { ReceiveFiles, ReceiveUpload } from './request/upload.js';

/** The input of a handler: validated values, and nothing of Express. */
export interface ApiRequest<Path, Query, Body> {
  readonly caller: Caller;
  readonly path: Path;
  readonly query: Query;
  readonly body: Body;
  /** For protocols that say more in headers of their own. */
  readonly headers: IncomingHttpHeaders;
  /** Null unless the route declares `upload` and the request is multipart/form-data. */
  readonly receiveUpload: ReceiveUpload | null;
  /** The same for a form with many files. */
  readonly receiveFiles: ReceiveFiles | null;
  /** Null unless the route declares `items`. */
  readonly receiveItems: ReceiveItems | null;
  readonly prefer: Prefer;
  /** Returns the names of the fields of an item that were ignored, once; undefined where there are none. */
  readonly takeIgnored: IgnoredFields['takeItem'];
  readonly requestId: string;
  /** Names the action for the audit log where the body says what it is. @throws UnavailableError as a route's own action does */
  readonly noteAction: (action: RequestAction) => void;
  /** Public address of this service without a trailing slash, for links in responses. */
  readonly baseUrl: string;
  readonly startedAtMs: number;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  /** A signal that aborts when the client goes away or its token ends: for streams, which may outlive it. */
  readonly whileValid: () => AbortSignal;
  /** The facts about the request that services need, apart from its content. It references nothing of the body. */
  readonly context: RequestContext;
}

/** For `open` routes, which decide by themselves who may pass. Both functions may throw to refuse a caller. */
export interface Authorize {
  /** Called before the body is read. False means that the body must show that the caller may pass. */
  readonly byCaller: (caller: Caller) => boolean;
  /** Called before the body is validated; `body` is undefined if it cannot be read. `address` is for counting attempts. */
  readonly byBody: (caller: Caller, body: unknown, address: string) => Promise<void>;
}

/** Everything that describes a route except its handler. */
interface Declaration<
  Path extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Declared extends Responses,
  Events extends z.ZodType,
> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As OpenAPI writes it: `/documents/{document_id}`. */
  readonly path: string;
  readonly summary: string;
  /** The facts that the summary leaves out, in whole sentences, for the OpenAPI page. */
  readonly description?: string;
  readonly tag: string;
  /** The permission that a token must carry: with `any`, the handler asks for it; `open` routes need no token. */
  readonly permission: Permission | 'any' | 'open';
  readonly request: {
    readonly path?: Path;
    readonly query?: Query;
    readonly body?: Body;
    /** For routes that also take a form, url-encoded or multipart: parses its strings to the same type as `body`. */
    readonly form?: z.ZodType<z.infer<Body>>;
    /** For routes that also take `application/merge-patch+json` (RFC 7396), where null takes something away. */
    readonly mergePatch?: z.ZodType<z.infer<Body>>;
    /** Fields that the query string may provide, as strings, where the JSON body has them absent or null. */
    readonly fromQuery?: z.ZodObject;
  };
  /** The maximum number of bytes of a JSON or form body, if that is less than `api.max_json_bytes`. */
  readonly maxBodyBytes?: number;
  /** With `object`, an empty body and a body of two quote characters count as `{}`. */
  readonly emptyBody?: 'object';
  /** The action of the route in the audit log; null where nothing of anybody is read or changed. */
  readonly audit: RequestAction | null;
  readonly authorize?: Authorize;
  /** Runs before the body is read, and throws when there is no capacity for the request. */
  readonly admit?: (callerId: string) => Promise<Arrival | undefined>;
  /** For routes that take multipart/form-data, also or only. The fields are for the OpenAPI document. */
  readonly upload?: { readonly fields: z.ZodType; readonly alsoJson: boolean };
  /**
   * The schema of items, for routes that take many, whose handler receives them: in JSON, as `request.body` describes it,
   * or as a stream of lines, each of which is such an item. Answers to a stream are lines as well, each an item of the
   * declared list.
   */
  readonly items?: z.ZodType;
  /** The content of the `data:` lines, for routes that may also answer 200 with server-sent events. */
  readonly events?: Events;
  /** Response bodies by status. The OpenAPI document is made from them, and tests check every response against them. */
  readonly responses: Declared;
}

/** For routes that heed an `Idempotency-Key`. They answer with JSON, or with lines, which are not remembered. */
export interface IdempotencyOf<Request, Replying, Answer> {
  /** Reads an upload to its end without storing it, so that it can be compared. For routes that take uploads. */
  readonly skipUpload?: (receiveUpload: ReceiveUpload) => Promise<void>;
  /** The same for a form with many files. */
  readonly skipFiles?: (receiveFiles: ReceiveFiles) => Promise<void>;
  /**
   * Answers from the objects that an earlier request with the same key has created under `id`, where its answer is not
   * remembered. Without it, `handle` goes on with the work of the earlier request, which its reservation tells.
   */
  readonly answerAgain?: (request: Request, id: string, reply: Replying) => Promise<Answer>;
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
  /** The least that `body` may hold. Pages fill it in, and show `body` beside it. */
  readonly plain?: z.input<Body>;
  /** The fields of a multipart upload; the field of the file holds its text, and pages fill it in alone. */
  readonly upload?: Readonly<Record<string, string | readonly string[]>>;
  /** For routes that heed one, each another, since a key is good for one route alone. */
  readonly idempotencyKey?: string;
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
  readonly plain?: unknown;
  readonly upload?: Readonly<Record<string, string | readonly string[]>>;
  readonly idempotencyKey?: string;
  readonly responses: Readonly<Record<number, unknown>>;
  readonly events?: readonly unknown[];
}

/** A route as the server runs it: `handle` is only ever called with the output of the route's own schemas. */
export interface Route extends Declaration<z.ZodType, z.ZodType, z.ZodType, Responses, z.ZodType> {
  readonly examples?: RouteExamples;
  readonly idempotency?: IdempotencyOf<ApiRequest<unknown, unknown, unknown>, Reply, ApiReply | PendingReply>;
  readonly handle: (
    request: ApiRequest<unknown, unknown, unknown>,
    reply: Reply,
  ) => Promise<ApiReply | PendingReply>;
}

type Reply = typeof reply;

/** A route as it is written: its handler gets the output of its schemas, and can return only declared responses. */
interface RouteDefinition<
  Path extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Declared extends Responses,
  Events extends z.ZodType,
> extends Declaration<Path, Query, Body, Declared, Events> {
  /** Every route of the service has them, which a test demands; a route that only a test makes may go without. */
  readonly examples?: Examples<Path, Query, Body, NoInfer<Declared>, NoInfer<Events>>;
  readonly idempotency?: IdempotencyOf<
    ApiRequest<z.infer<Path>, z.infer<Query>, z.infer<Body>>,
    Replies<NoInfer<Declared>, NoInfer<Events>>,
    | DeclaredReply<NoInfer<Declared>, NoInfer<Events>>
    | PendingReply<DeclaredReply<NoInfer<Declared>, NoInfer<Events>>>
  >;
  readonly handle: (
    request: ApiRequest<z.infer<Path>, z.infer<Query>, z.infer<Body>>,
    reply: Replies<Declared, Events>,
  ) => Promise<DeclaredReply<Declared, Events> | PendingReply<DeclaredReply<Declared, Events>>>;
}

/** Infers the types of a route's requests and responses from its schemas. The list of routes holds it without them. */
export function defineRoute<
  Path extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  const Declared extends Responses,
  Events extends z.ZodType = never,
>(route: RouteDefinition<Path, Query, Body, Declared, Events>): Route {
  const untyped: unknown = route;
  // @NOTE dropping the types is safe: the server calls each handler with the output of the route's own schemas.
  return untyped as Route;
}
