import type { Request, RequestHandler, Response } from 'express';
import {
  anonymous,
  notAuthenticated,
  requirePermission,
  type Authenticate,
  type Caller,
} from '../auth/auth.js';
import type { RateLimit } from '../auth/rate-limit.js';
import type { AnswerMemory } from '../services/retrieval/answer-memory.js';
import { addressOf } from './client-address.js';
import { continueBody } from './connections/expect-continue.js';
import { baseUrlOf } from './host-guard.js';
import type { ReadJson } from './json/reader.js';
import { reply, type ApiReply, type PendingReply } from './response/reply.js';
import { sendReply, type Exchange } from './response/send-reply.js';
import { reasonOfEnd } from './connections/slow-clients.js';
import { requestFacts } from './logging/request-facts.js';
import type { BodyBudget, BodyClaim } from './request/body-budget.js';
import { parseParts, queryOf, readBody, type BodyReading, type RawBody } from './request/parts.js';
import { parsePrefer } from './request/prefer.js';
import { createUploadReceiver } from './request/upload.js';
import type { ApiRequest, Route } from './route.js';

export interface RouteOptions {
  readonly authenticate: Authenticate;
  /** null: callers may ask as often as they like. */
  readonly rateLimit: RateLimit | null;
  readonly maxJsonBytes: number;
  readonly bodies: BodyBudget;
  readonly readJson: ReadJson;
  readonly bodyGraceSeconds: number;
  readonly publicUrl: string;
  readonly answerMemory: AnswerMemory;
}

/** Runs a route: who asks, may they, what do they ask, answer. In this order, so that strangers learn nothing. */
export function handleRoute(route: Route, options: RouteOptions): RequestHandler {
  return async (request, response) => {
    const startedAtMs = Date.now();
    const signal = abortsWhenGone(request, response);
    const caller = admit(route, request, options.authenticate);
    if (caller !== anonymous) await options.rateLimit?.(caller.id);
    const claim = options.bodies.claim(caller.id);
    let answer: ApiReply;
    try {
      const asking = { request, response, claim, caller, startedAtMs, signal };
      const begun = await begin(route, asking, options);
      if (begun.type === 'pending') claim.shrink(begun.heldBytes);
      answer = begun.type === 'pending' ? await begun.settled : begun;
    } finally {
      claim.release();
    }
    const hold = holdFor(options.answerMemory, { callerId: caller.id, request, signal });
    await sendReply({ request, response, signal, hold }, answer);
  };
}

interface Asking {
  readonly request: Request;
  readonly response: Response;
  readonly claim: BodyClaim;
  readonly caller: Caller;
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
}

/** Reads and handles the request. What it holds of the body is gone when it returns. */
async function begin(route: Route, asking: Asking, options: RouteOptions): Promise<ApiReply | PendingReply> {
  const { request, response, caller, startedAtMs, signal } = asking;
  const leave = await route.admit?.(caller.id);
  try {
    const reading = readingOf(route, asking, options);
    const raw = await readRawBody(route, { caller, request }, reading);
    const parts = parseParts(route, { path: request.params, query: queryOf(request.url), body: raw });
    const apiRequest: ApiRequest<unknown, unknown, unknown> = {
      caller,
      ...parts,
      receiveUpload: raw.type === 'upload' ? createUploadReceiver(request, reading) : null,
      prefer: parsePrefer(request.headers['prefer']),
      requestId: response.get('X-Request-Id') ?? '',
      baseUrl: baseUrlOf(request, options.publicUrl),
      startedAtMs,
      signal,
    };
    return await route.handle(apiRequest, reply);
  } finally {
    leave?.();
  }
}

function readingOf(route: Route, { request, response, claim }: Asking, options: RouteOptions): BodyReading {
  return {
    readJson: options.readJson,
    maxBytes: Math.min(options.maxJsonBytes, route.maxBodyBytes ?? Infinity),
    onReading: () => {
      continueBody(request, response);
    },
    claim,
    graceSeconds: options.bodyGraceSeconds,
  };
}

/** Memory for a body; what has changed something is answered, whatever it takes. */
function holdFor(
  memory: AnswerMemory,
  { callerId, request, signal }: { callerId: string; request: Request; signal: AbortSignal },
): Exchange['hold'] {
  return (bytes) =>
    request.method === 'GET'
      ? memory.reserve({ callerId, bytes, signal })
      : Promise.resolve(memory.hold({ callerId, bytes }));
}

function admit(route: Route, request: Request, authenticate: Authenticate): Caller {
  const facts = requestFacts(request);
  facts.route = route.path;
  const known = authenticate(request.headers.authorization);
  facts.callerId = known?.id ?? null;
  if (route.permission === 'open') return known ?? anonymous;
  if (!known) throw notAuthenticated();
  requirePermission(known, route.permission);
  return known;
}

/** Reads the body only after all that can be refused without it. */
async function readRawBody(
  route: Route,
  { caller, request }: { caller: Caller; request: Request },
  reading: BodyReading,
): Promise<RawBody> {
  const mayPass = route.authorize?.byCaller(caller) ?? true;
  const decide = async (value: unknown) => {
    if (!mayPass) await route.authorize?.byBody(caller, value, addressOf(request));
  };
  let body: RawBody;
  try {
    body = await readBody(request, route, reading);
  } catch (error) {
    // Who may not pass is not told what is wrong with the body.
    await decide(undefined);
    throw error;
  }
  await decide(body.type === 'json' || body.type === 'form' ? body.value : undefined);
  return body;
}

/** Its reason is an AbandonedError. */
function abortsWhenGone(request: Request, response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(reasonOfEnd(request.socket));
  });
  return controller.signal;
}
