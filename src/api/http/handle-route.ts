import type { Request, RequestHandler, Response } from 'express';
import { UnavailableError } from '../../shared/errors.js';
import { createSharedController } from '../../shared/tools/aborting.js';
import { traced } from '../../shared/tracing/tracing.js';
import {
  anonymous,
  notAuthenticated,
  requirePermission,
  type Authenticate,
  type Caller,
} from '../auth/authentication.js';
import type { RateLimit } from '../auth/rate-limit.js';
import { AbandonedError } from '../services/abandoned-error.js';
import type { AnswerMemory } from '../services/answer-memory/answer-memory.js';
import type { Idempotency } from '../services/idempotency/idempotency.js';
import { auditAction, auditAnswer, auditPath } from './audit/audit-trail.js';
import { baseUrlOf } from './origins.js';
import { clientAddressOf } from './client-address.js';
import { continueBody, type BodyReading } from './request/body.js';
import { cutOffClient, noteRequest, reasonOfEnd } from './connections/slow-clients.js';
import { fingerprintBytes, fingerprintLines } from './idempotency/fingerprint.js';
import { handleOnce } from './idempotency/handle-once.js';
import {
  answeredRequestId,
  idempotencyKeyOf,
  parseIfMatch,
  parsePrefer,
  type Prefer,
} from './request/headers.js';
import type { ReadJson } from './json/json.js';
import { noteCaller, noteRoute } from './logging/access-log.js';
import type { BodyBudget, BodyClaim } from './request/body-budget.js';
import { createItemsReceiver } from './request/items/receive-items.js';
import { createParseParts, queryOf, readBody, type ParseParts, type RawBody } from './request/read-parts.js';
import { createFilesReceiver, createUploadReceiver } from './request/upload.js';
import { reply, type ApiReply, type PendingReply } from './response/reply.js';
import { sendReply, type Exchange } from './response/send-reply.js';
import type { ApiRequest, Route } from './route.js';
import { createIgnoredFields, type IgnoredFields, type UnknownFields } from './unknown-fields.js';

export interface RouteOptions {
  readonly authenticate: Authenticate;
  /** Null when the number of requests is not limited. */
  readonly rateLimit: RateLimit | null;
  readonly maxJsonBytes: number;
  readonly unknownFields: UnknownFields;
  readonly bodies: BodyBudget;
  readonly readJson: ReadJson;
  readonly bodyGraceSeconds: number;
  readonly publicUrl: string;
  readonly answerMemory: AnswerMemory;
  /** Null in an application without routes that heed an `Idempotency-Key`. */
  readonly idempotency: Idempotency | null;
}

/**
 * Runs a route: authenticates the caller, checks the permission, reads and validates the request, and sends the reply. The
 * order matters: callers without permission learn nothing about the route's input.
 */
export function handleRoute(route: Route, options: RouteOptions): RequestHandler {
  const running = { ...options, parseParts: createParseParts(route) };
  return async (request, response) => {
    const startedAtMs = Date.now();
    const caller = authorize(route, request, options.authenticate);
    const { gone: signal, whileValid } = createRequestSignals(request, response, caller);
    if (caller !== anonymous) await options.rateLimit?.(caller.id);
    noteRequest(request.socket, { callerId: caller.id, signal });
    const claim = options.bodies.claim(caller.id);
    const hold = holdFor(options.answerMemory, { callerId: caller.id, request, signal });
    const prefer = parsePrefer(request.headers['prefer']);
    const ignored = createIgnoredFields(prefer, options.unknownFields);
    let settled: ApiReply;
    try {
      const facts = { claim, caller, startedAtMs, signal, whileValid, prefer, ignored };
      const exchange = { request, response, ...facts };
      const begun = await runHandler(route, exchange, running);
      if (begun.type === 'pending') claim.shrink(begun.heldBytes);
      settled = begun.type === 'pending' ? await begun.settled : begun;
      settled = auditAnswer(request, { ...settled, headers: ignored.addTo(settled.headers ?? {}) });
      if (settled.type === 'lines') {
        // The request is still being read while the answer is sent.
        await sendReply({ request, response, signal, whileValid, hold }, settled);
        return;
      }
    } catch (error) {
      if (!response.headersSent) response.set(ignored.addTo({}));
      throw error;
    } finally {
      claim.release();
    }
    await sendReply({ request, response, signal, whileValid, hold }, settled);
  };
}

/** A request whose caller may use the route. */
interface AuthorizedRequest {
  readonly request: Request;
  readonly response: Response;
  readonly claim: BodyClaim;
  readonly caller: Caller;
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
  readonly whileValid: () => AbortSignal;
  readonly prefer: Prefer;
  readonly ignored: IgnoredFields;
}

/** Reads the request and calls the route's handler. The request's body is released when this returns. */
async function runHandler(
  route: Route,
  authorized: AuthorizedRequest,
  options: RouteOptions & { readonly parseParts: ParseParts },
): Promise<ApiReply | PendingReply> {
  const { request, response, caller, startedAtMs, signal, whileValid, prefer, ignored } = authorized;
  const keyed = keyedRequest(route, request);
  const requestId = answeredRequestId(response);
  const arrival = await route.admit?.(caller.id);
  try {
    const reading = { ...readingOf(route, authorized, options), ...keyed?.watch };
    const { raw, parts } = await traced('receive', {}, async () => {
      const body = await readRawBody(route, { caller, request }, reading);
      const given = { path: request.params, query: queryOf(request.url), body };
      return { raw: body, parts: options.parseParts(given, ignored) };
    });
    const apiRequest: ApiRequest<unknown, unknown, unknown> = {
      caller,
      ...parts,
      ...toProtocols(request),
      receiveUpload: raw.type === 'upload' ? createUploadReceiver(request, reading) : null,
      receiveFiles: raw.type === 'upload' ? createFilesReceiver(request, reading) : null,
      receiveItems: raw.type === 'items' ? createItemsReceiver(request, raw.bytes, reading) : null,
      prefer,
      takeIgnored: ignored.takeItem,
      requestId,
      baseUrl: baseUrlOf(request, options.publicUrl),
      startedAtMs,
      signal,
      whileValid,
      context: { ...contextOf(authorized), requestId, arrival },
    };
    if (!keyed || !options.idempotency) return await route.handle(apiRequest, reply);
    const { key, place } = keyed;
    const fingerprint = keyed.fingerprint(raw);
    return await handleOnce(options.idempotency, { route, request: apiRequest, key, place, fingerprint });
  } finally {
    arrival?.leave();
  }
}

/** The members of a request that only protocols need, which say in bodies what other routes say in their paths. */
const toProtocols = (
  request: Request,
): Pick<ApiRequest<unknown, unknown, unknown>, 'headers' | 'noteAction'> => ({
  headers: request.headers,
  noteAction: (action) => {
    auditAction(request, action);
  },
});

/**
 * Returns the key of a request that heeds one, and the fingerprint that it is compared by, null for an upload. @throws
 * HttpError 422
 */
function keyedRequest(route: Route, request: Request) {
  const key = route.idempotency ? idempotencyKeyOf(request) : null;
  if (key === null) return null;
  const place = { method: request.method, url: request.originalUrl };
  let fingerprint: string | null = null;
  return {
    key,
    place,
    fingerprint: (body: RawBody) => {
      if (body.type === 'upload') return null;
      if (body.type === 'items' && body.bytes === null) return fingerprintLines(place);
      return fingerprint ?? fingerprintBytes(place, new Uint8Array());
    },
    watch: {
      onBytes: (bytes: Uint8Array) => {
        fingerprint = fingerprintBytes(place, bytes);
      },
    },
  };
}

/** Returns what services need to know of a request, apart from its content. */
function contextOf({ caller, request, startedAtMs, prefer, signal }: AuthorizedRequest) {
  const { id: callerId, principal, expiresAtMs } = caller;
  const waitSeconds = waitSecondsOf(prefer);
  const precondition = parseIfMatch(request.headers['if-match']);
  return { callerId, principal, expiresAtMs, startedAtMs, waitSeconds, precondition, signal };
}

/** A caller who states both preferences waits first, and gets an asynchronous answer only after that. */
const waitSecondsOf = ({ waitSeconds, respondAsync }: Prefer): number | null =>
  waitSeconds ?? (respondAsync ? 0 : null);

function readingOf(
  route: Route,
  { request, response, claim, ignored }: AuthorizedRequest,
  options: RouteOptions,
): BodyReading {
  return {
    readJson: options.readJson,
    maxBytes: Math.min(options.maxJsonBytes, route.maxBodyBytes ?? Infinity),
    onReading: () => {
      continueBody(request, response);
    },
    claim,
    ignored,
    graceSeconds: options.bodyGraceSeconds,
  };
}

/**
 * Takes memory for a response body. Without room only GET is refused: other requests have already changed something, so that
 * their clients are disconnected, like those that take too little of their answers.
 */
function holdFor(
  memory: AnswerMemory,
  { callerId, request, signal }: { callerId: string; request: Request; signal: AbortSignal },
): Exchange['hold'] {
  return async (bytes) => {
    try {
      return await memory.keep({ callerId, bytes, signal });
    } catch (error) {
      if (request.method === 'GET' || !(error instanceof UnavailableError)) throw error;
      throw cutOffClient(request.socket);
    }
  };
}

/** Tells who sends the request, and throws where they may not use the route. The question of room for it comes later. */
function authorize(route: Route, request: Request, authenticate: Authenticate): Caller {
  const known = authenticate(request.headers.authorization);
  noteCaller(request, known);
  auditPath(request);
  noteRoute(request, route.path, route.audit);
  if (route.permission === 'open') return known ?? anonymous;
  if (!known) throw notAuthenticated();
  if (route.permission !== 'any') requirePermission(known, route.permission);
  return known;
}

/** Reads the body, after everything that can refuse the request without it. */
async function readRawBody(
  route: Route,
  { caller, request }: { caller: Caller; request: Request },
  reading: BodyReading,
): Promise<RawBody> {
  const mayPass = route.authorize?.byCaller(caller) ?? true;
  const decide = async (value: unknown) => {
    if (!mayPass) await route.authorize?.byBody(caller, value, clientAddressOf(request));
  };
  let body: RawBody;
  try {
    body = await readBody(request, route, reading);
  } catch (error) {
    // A caller that may not pass must not learn the faults of the body.
    await decide(undefined);
    throw error;
  }
  await decide(body.type === 'json' || body.type === 'form' ? body.value : undefined);
  return body;
}

/** The signals that may end a request before it is answered. The reason of each is an AbandonedError. */
export interface RequestSignals {
  /** Aborts when the client goes away. */
  readonly gone: AbortSignal;
  /** The same, and when the token ends that the request came with: for streams, which last as long as they like. */
  readonly whileValid: () => AbortSignal;
}

/** The longest timer. */
const MAX_MILLISECONDS = 2 ** 31 - 1;

export function createRequestSignals(
  { socket }: Request,
  response: Response,
  { expiresAtMs }: { readonly expiresAtMs: number },
): RequestSignals {
  const gone = createSharedController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(reasonOfEnd(socket));
  });
  let valid: AbortController | undefined;
  const open = () => {
    const controller = createSharedController();
    gone.signal.addEventListener('abort', () => {
      controller.abort(gone.signal.reason);
    });
    if (expiresAtMs < Infinity) response.once('close', abortAt(controller, expiresAtMs));
    return controller;
  };
  return { gone: gone.signal, whileValid: () => (valid ??= open()).signal };
}

/** Aborts when the token ends. Returns a function that keeps it from that. */
function abortAt(controller: AbortController, expiresAtMs: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const left = expiresAtMs - Date.now();
    if (left <= 0) controller.abort(new AbandonedError('token_ended'));
    else timer = setTimeout(look, Math.min(left, MAX_MILLISECONDS));
  };
  look();
  return () => {
    clearTimeout(timer);
  };
}
