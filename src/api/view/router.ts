import { Router, type Request, type RequestHandler, type Response } from 'express';
import type { RequestAction } from '../../shared/audit/entry.js';
import { NotFoundError } from '../../shared/errors.js';
import { parseHighlight, type Highlight } from '../../shared/page-pictures/highlight.js';
import type { Redis } from '../../shared/redis/client.js';
import { notAuthenticated, requirePermission, type Authenticate } from '../auth/authentication.js';
import type { RateLimit } from '../auth/rate-limit.js';
import { html, sendPage, wantsPage } from '../browser/html.js';
import { createLogin, showLogin, type LoginOptions } from '../browser/login.js';
import { createPageVisitor } from '../browser/page-visitor.js';
import { publicPrefix, type Realm } from '../browser/realm.js';
import { createSessions } from '../browser/sessions.js';
import { auditPath } from '../http/audit/audit-trail.js';
import { noteRequest } from '../http/connections/slow-clients.js';
import { answerErrors, type ErrorReply } from '../http/error-handler.js';
import { createRequestSignals, type RequestSignals } from '../http/handle-route.js';
import { HttpError } from '../http/http-error.js';
import { noteCaller, noteRoute } from '../http/logging/access-log.js';
import { answeredRequestId } from '../http/request/headers.js';
import type { ApiReply } from '../http/response/reply.js';
import { sendReply } from '../http/response/send-reply.js';
import { sendJson } from '../http/response/write.js';
import type { AnswerMemory } from '../services/answer-memory/answer-memory.js';
import type { OpenDownload } from '../services/documents/downloads.js';
import type { Documents } from '../services/documents/read-documents.js';
import type { ReadPage } from '../services/documents/read-page.js';
import { passagePage } from './passage-page.js';
import { readPassages } from './passages.js';

/** The services that show documents, which check for themselves who may read. */
export interface DocumentReaders {
  readonly documents: Documents;
  readonly readPage: ReadPage;
  readonly openDownload: OpenDownload;
}

export interface ViewOptions extends DocumentReaders, Omit<LoginOptions, 'visits' | 'realm' | 'secrets'> {
  readonly redis: Redis;
  /** The current secret, then the previous one while it is being changed. */
  readonly secrets: readonly [string, ...string[]];
  readonly authenticate: Authenticate;
  readonly sessionMinutes: number;
  readonly publicUrl: string;
  /** Null when the number of requests is not limited. */
  readonly rateLimit: RateLimit | null;
  readonly memory: AnswerMemory;
}

const VIEW: Omit<Realm, 'path'> = {
  name: 'view',
  permission: 'read',
  // Links of chats and mails lead here.
  sameSite: 'lax',
  csrfCookie: null,
  title: 'Quire',
  advice: {
    usual: 'This page shows a document to those who may read it. Log in with your access token.',
    devMode: 'This service runs in dev mode: documents are shown without a login.',
  },
  home: null,
};

/** Everything under /view: a page for people that shows a passage in its document, with what it needs. */
export function createView(options: ViewOptions): Router {
  const { redis, secrets, authenticate, publicUrl, sessionMinutes } = options;
  const prefix = publicPrefix(publicUrl);
  const realm: Realm = { ...VIEW, path: `${prefix}/view` };
  const sessions = createSessions({ realm: realm.name, secrets, redis });
  const visits = createPageVisitor({ sessions, authenticate, sessionMinutes, realm, publicUrl });
  const view = { ...options, visits, realm, prefix };
  const router = Router({ caseSensitive: true, strict: true });
  router.use(setHeaders);
  router.use(createLogin(view));
  for (const { path, show } of PATHS) {
    router.get(path, (request, response) => show(view, request, response));
    router.all(path, () => {
      throw new HttpError(405, 'Method Not Allowed', { headers: { Allow: 'GET, HEAD' } });
    });
  }
  router.use(
    answerErrors((response, reply, request) => {
      sendError(realm, { request, response }, reply);
    }),
  );
  return router;
}

type View = ViewOptions & LoginOptions & { readonly prefix: string };

const setHeaders: RequestHandler = (_request, response, next) => {
  // Pages of other origins must not read these pages, even if they may call the API.
  response.removeHeader('Access-Control-Allow-Origin');
  response.set('Cache-Control', 'no-store');
  next();
};

/** The name of a path in logs and metrics, and of its use in the audit log. */
interface Use {
  readonly route: string;
  readonly action: RequestAction;
}

const PASSAGE: Use = { route: '/view/{document_id}', action: 'document.view' };
const PICTURE: Use = { route: '/view/{document_id}/pages/{page}.png', action: 'document.page' };
const DOWNLOAD: Use = { route: '/view/{document_id}/download', action: 'document.download' };

type Show = (view: View, request: Request, response: Response) => Promise<void>;

const showPassage: Show = async (view, request, response) => {
  const opened = await open(view, { request, response }, PASSAGE);
  if (!opened) return;
  const { asked, caller } = opened;
  const { searchParams } = new URL(request.originalUrl, 'http://quire');
  const wanted = wantedPart(searchParams.get('chunk'), searchParams.get('quote'));
  const shown = await readPassages(view.documents, asked, wanted);
  const page = passagePage(shown, { prefix: view.prefix, callerId: caller.id });
  const { signal } = asked;
  const lease = await view.memory.keep({ callerId: caller.id, bytes: 2 * page.body.html.length, signal });
  response.once('close', () => {
    lease.release();
  });
  sendPage(response, 200, page);
};

const showPicture: Show = async (view, request, response) => {
  const opened = await open(view, { request, response }, PICTURE);
  if (!opened) return;
  const { asked, signals } = opened;
  const page = /^[1-9]\d{0,6}$/.exec(parameter(request, 'page'))?.[0];
  if (page === undefined) throw new NotFoundError('The document has no such page');
  const { searchParams } = new URL(request.originalUrl, 'http://quire');
  const highlight = readHighlight('highlight', searchParams.get('highlight'));
  const requestId = answeredRequestId(response);
  const picture = await view.readPage({ ...asked, page: Number(page), highlight, requestId });
  await send(view, { request, response, signals }, { ...picture, contentType: 'image/png', isInline: true });
};

const showDownload: Show = async (view, request, response) => {
  const opened = await open(view, { request, response }, DOWNLOAD);
  if (!opened) return;
  const { asked, signals } = opened;
  await send(view, { request, response, signals }, await view.openDownload(asked));
};

const PATHS: readonly { readonly path: string; readonly show: Show }[] = [
  { path: '/:document_id', show: showPassage },
  { path: '/:document_id/pages/:page.png', show: showPicture },
  { path: '/:document_id/download', show: showDownload },
];

interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

/**
 * Tells who asks, and for which document. Null after it has asked a browser without a login for a token.
 * @throws HttpError 401, 403; TooManyError
 */
async function open(view: View, { request, response }: Exchange, { route, action }: Use) {
  auditPath(request);
  noteRoute(request, route, action);
  const visit = await view.visits.read(request);
  const { caller } = visit;
  noteCaller(request, caller);
  if (!caller) {
    if (!wantsPage(request) || action === 'document.page') throw notAuthenticated();
    response.set('WWW-Authenticate', 'Bearer');
    const next = view.prefix + request.originalUrl;
    showLogin(view, { request, response, visit }, { status: 401, next });
    return null;
  }
  requirePermission(caller, 'read');
  await view.rateLimit?.(caller.id);
  const signals = createRequestSignals(request, response, caller);
  const { gone: signal } = signals;
  noteRequest(request.socket, { callerId: caller.id, signal });
  const { principal } = caller;
  return { caller, signals, asked: { documentId: parameter(request, 'document_id'), principal, signal } };
}

/** A parameter of the path. */
function parameter(request: Request, name: 'document_id' | 'page'): string {
  const value = request.params[name];
  return typeof value === 'string' ? value : '';
}

/** Reads the passage that a link names; null without one. @throws HttpError 422 */
function wantedPart(chunk: string | null, quote: string | null): Highlight | null {
  if (chunk === null) return null;
  const whole = readHighlight('chunk', chunk);
  if (whole?.part) throw unreadable('chunk');
  return quote === null ? whole : readHighlight('quote', `${chunk}:${quote}`);
}

function readHighlight(name: string, text: string | null): Highlight | null {
  if (text === null) return null;
  const highlight = parseHighlight(text);
  if (!highlight) throw unreadable(name);
  return highlight;
}

const unreadable = (name: string) =>
  new HttpError(422, [
    { loc: ['query', name], msg: 'value names no passage', type: 'value_error.highlight' },
  ]);

type Download = Omit<Extract<ApiReply, { type: 'download' }>, 'type' | 'headers'>;

function send(
  { memory }: View,
  { request, response, signals }: Exchange & { readonly signals: RequestSignals },
  download: Download,
): Promise<void> {
  const { gone: signal, whileValid } = signals;
  const hold = () => memory.keep({ callerId: '', bytes: 0, signal });
  // A picture and a source are seen by their reader alone, and by nobody who may no longer read them.
  const headers = { 'Cache-Control': 'private, no-cache' };
  const exchange = { request, response, signal, whileValid, hold };
  return sendReply(exchange, { type: 'download', headers, ...download });
}

const WORDS: Readonly<Record<number, string>> = {
  401: 'Please log in',
  403: 'You may not see this',
  404: 'There is no such document',
  422: 'This link is not complete',
};

/** Says in words what is wrong, to those who accept a page. */
function sendError({ path }: Realm, { request, response }: Exchange, { status, detail }: ErrorReply): void {
  if (!wantsPage(request)) {
    sendJson(response, status, { detail });
    return;
  }
  const title = WORDS[status] ?? (status < 500 ? 'This is not possible' : 'This is not possible now');
  const reason =
    typeof detail === 'string' ? detail : detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
  const body = html`<section class="card">
    <h1>${title}</h1>
    <p role="alert">${typeof reason === 'string' ? reason : reason.join('; ')}</p>
    ${status === 403 ? html`<p><a href="${path}/login">Log in as somebody else</a></p>` : null}
  </section>`;
  sendPage(response, status, { title, body, narrow: true });
}
