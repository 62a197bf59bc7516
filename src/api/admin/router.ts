import { Router, type Request, type RequestHandler, type Response } from 'express';
import type { Jobs } from '../../shared/queues/jobs.js';
import type { Redis } from '../../shared/redis/client.js';
import { loadOnce } from '../../shared/tools/coalesce-runs.js';
import { notAuthenticated, requirePermission, type Authenticate } from '../auth/authentication.js';
import type { Guesses } from '../auth/guess-limit.js';
import { continueBody } from '../http/request/body.js';
import { HttpError } from '../http/http-error.js';
import { lazyHandler } from '../http/lazy-handler.js';
import { pagePolicy } from '../http/security-headers.js';
import { noteCaller, noteRoute } from '../http/logging/access-log.js';
import type { BodyBudget } from '../http/request/body-budget.js';
import type { InspectDocument } from '../services/documents/document-inspection.js';
import type { OperatorChanges } from '../services/documents/operator-changes.js';
import type { ReadJobNotes } from '../services/jobs/job-notes.js';
import type { RetryJob } from '../services/jobs/retry-job.js';
import type { BoardOptions } from './queue-board.js';
import { createDocumentPages } from './documents.js';
import { createLogin } from '../browser/login.js';
import { createSessions } from '../browser/sessions.js';
import { createPageVisitor, type Visit, type Visits } from '../browser/page-visitor.js';
import { publicPrefix, type Realm } from '../browser/realm.js';

export interface AdminOptions {
  readonly jobs: Jobs;
  readonly redis: Redis;
  readonly inspect: InspectDocument;
  readonly changes: OperatorChanges;
  readonly retryJob: RetryJob;
  readonly readNotes: ReadJobNotes;
  /** The current secret, then the previous one while it is being changed. */
  readonly secrets: readonly [string, ...string[]];
  readonly authenticate: Authenticate;
  readonly guesses: Guesses;
  readonly bodies: BodyBudget;
  readonly bodyGraceSeconds: number;
  readonly sessionMinutes: number;
  readonly queuesReadOnly: boolean;
  readonly devMode: boolean;
  readonly publicUrl: string;
}

const ADMIN: Omit<Realm, 'path'> = {
  name: 'admin',
  permission: 'admin',
  sameSite: 'strict',
  // The queue board's own script reads this cookie.
  csrfCookie: 'XSRF-TOKEN',
  title: 'Quire administration',
  advice: {
    usual: 'Log in with an access token that has the admin permission.',
    devMode: 'This service runs in dev mode: these pages are open without a login.',
  },
  home: { path: '/queues', name: 'Queues' },
};

/** No request is without a visit once it was admitted. */
const NOBODY: Visit = { caller: null, session: null, isByToken: false };

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/** Everything under /admin. Only admins may read it, and only its own pages may write. */
export function createAdmin(options: AdminOptions): Router {
  const { redis, jobs, secrets, authenticate, publicUrl, sessionMinutes } = options;
  const adminPath = `${publicPrefix(publicUrl)}/admin`;
  const realm: Realm = { ...ADMIN, path: adminPath };
  const sessions = createSessions({ realm: realm.name, secrets, redis });
  const visits = createPageVisitor({ sessions, authenticate, sessionMinutes, realm, publicUrl });
  const known = new WeakMap<Request, Visit>();

  const router = Router({ caseSensitive: true, strict: true });
  router.use(setHeaders);
  router.use(
    createLogin({
      visits,
      guesses: options.guesses,
      bodies: options.bodies,
      bodyGraceSeconds: options.bodyGraceSeconds,
      realm,
      devMode: options.devMode,
      secrets,
    }),
  );
  router.use(async (request, response, next) => {
    const visit = await visits.read(request);
    if (!admit(request, response, visit, adminPath)) return;
    known.set(request, visit);
    next();
  });
  router.get('/', (_request, response) => {
    response.redirect(303, `${adminPath}/queues`);
  });
  const visitOf = (request: Request) => known.get(request) ?? NOBODY;
  // Its forms hold the token that the writes of the board send in a header.
  router.use(createDocumentPages({ ...options, visits, visitOf, adminPath }));
  router.use((request, _response, next) => {
    if (!SAFE_METHODS.includes(request.method)) visits.requireOwnPage(request, visitOf(request));
    next();
  });
  const { queuesReadOnly: readOnly, retryJob, readNotes } = options;
  router.use('/queues', boardPolicy, guardBoard({ visits, known, readOnly }));
  router.use('/queues', lazyQueueBoard({ jobs, retryJob, readNotes, readOnly, adminPath }));
  return router;
}

const lazyQueueBoard = (options: BoardOptions) =>
  lazyHandler(loadOnce(async () => (await import('./queue-board.js')).createQueueBoard(options)));

const setHeaders: RequestHandler = (request, response, next) => {
  noteRoute(request, '/admin', 'admin.view');
  // Pages of other origins must not read these pages, even if they may call the API.
  response.removeHeader('Access-Control-Allow-Origin');
  // With helmet's `no-referrer`, browsers would send forms with the origin `null`.
  response.set({ 'Referrer-Policy': 'same-origin', 'Cache-Control': 'no-store' });
  next();
};

/** Runs before the queue board: refuses writes when it is read-only, and gives its script a CSRF token. */
function guardBoard({
  visits,
  known,
  readOnly,
}: {
  readonly visits: Visits;
  readonly known: WeakMap<Request, Visit>;
  readonly readOnly: boolean;
}): RequestHandler {
  return (request, response, next) => {
    const isChange = !SAFE_METHODS.includes(request.method);
    noteRoute(request, '/admin/queues', isChange ? 'admin.queue_change' : readingOf(request));
    if (isChange) {
      if (readOnly) throw new HttpError(403, 'The queues are read-only (admin.queues_read_only)');
      continueBody(request, response);
    }
    const visit = known.get(request);
    // The board's script reads the token from a cookie and sends it with every write.
    if (visit && !visit.isByToken && isPageView(request)) visits.csrfToken(request, response, visit);
    if (request.path.startsWith('/static/')) response.set('Cache-Control', 'private, max-age=3600');
    next();
  };
}

/** Returns false after it has redirected a browser to the login page. @throws HttpError 401, 403 */
function admit(request: Request, response: Response, { caller }: Visit, adminPath: string): boolean {
  noteCaller(request, caller);
  if (caller) {
    requirePermission(caller, 'admin');
    return true;
  }
  if (!isPageView(request)) throw notAuthenticated();
  const wanted = adminPath + request.url.replace(/^\/(?=$|\?)/, '');
  response.redirect(303, `${adminPath}/login?next=${encodeURIComponent(wanted)}`);
  return false;
}

/** Tells a browser that opens a page from a script that fetches data. */
function isPageView(request: Request): boolean {
  return request.method === 'GET' && request.get('Accept')?.includes('text/html') === true;
}

/** The board's own scripts and styles hold nothing of anybody. */
const readingOf = ({ path }: Request) => (path.startsWith('/static/') ? null : 'admin.queues');

const boardPolicy = pagePolicy({ fontSrc: ["'self'", 'data:'], baseUri: ["'self'"], formAction: ["'self'"] });
