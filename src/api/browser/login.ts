import { Router, type Request, type Response } from 'express';
import jsonwebtoken from 'jsonwebtoken';
import { z } from 'zod';
import { anonymous, type Authenticate, type Caller } from '../auth/authentication.js';
import type { Guesses } from '../auth/guess-limit.js';
import { clientAddressOf } from '../http/client-address.js';
import { HttpError } from '../http/http-error.js';
import { noteCaller, noteRoute } from '../http/logging/access-log.js';
import { sendPage, html, type Html } from './html.js';
import type { Visit, Visits } from './page-visitor.js';
import { readSmallForm, type FormOptions } from './small-form.js';

/** Before the login, all clients share the memory of anonymous callers. */
const BODY_HOLDER = anonymous.id;

export interface LoginOptions extends FormOptions {
  readonly visits: Visits;
  /** Authenticates by token only, even in dev mode. */
  readonly authenticate: Authenticate;
  readonly guesses: Guesses;
  readonly adminPath: string;
  readonly devMode: boolean;
}

/** The page at which an admin token is exchanged for a session. It also shows and ends the current session. */
export function createLogin(options: LoginOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/login', async (request, response) => {
    noteRoute(request, '/admin/login', 'admin.view');
    const { searchParams } = new URL(request.originalUrl, 'http://quire');
    const visit = await options.visits.read(request);
    showLogin(options, { request, response, visit }, { next: searchParams.get('next') ?? '' });
  });
  router.post('/login', (request, response) => logIn(options, request, response));
  router.post('/logout', (request, response) => logOut(options, request, response));
  for (const [path, allow] of [
    ['/login', 'GET, HEAD, POST'],
    ['/logout', 'POST'],
  ] as const) {
    router.all(path, () => {
      throw new HttpError(405, 'Method Not Allowed', { headers: { Allow: allow } });
    });
  }
  return router;
}

async function logIn(options: LoginOptions, request: Request, response: Response): Promise<void> {
  const { visits, authenticate, guesses, adminPath } = options;
  noteRoute(request, '/admin/login', 'admin.login');
  const visit = await visits.read(request);
  const { csrf = '', token: given = '', next = '' } = await readOwnForm(request, response, options);
  visits.requireOwnPage(request, { ...visit, isByToken: false }, csrf);
  const token = given.trim();
  const caller = authenticate(`Bearer ${token}`);
  const refusal = refusalOf(caller);
  if (!caller) await guesses.countWrong({ kind: 'signed-token', address: clientAddressOf(request) });
  if (!caller || refusal) {
    showLogin(options, { request, response, visit }, { ...refusal, next });
    return;
  }
  noteCaller(request, caller);
  visits.login(request, response, { caller, tokenExpiresAtMs: expiryOf(token) });
  response.redirect(303, safeTarget(next, adminPath) ?? `${adminPath}/queues`);
}

async function logOut(options: LoginOptions, request: Request, response: Response): Promise<void> {
  const { visits, adminPath } = options;
  noteRoute(request, '/admin/logout', 'admin.logout');
  const visit = await visits.read(request);
  noteCaller(request, visit.caller);
  const { csrf = '' } = await readOwnForm(request, response, options);
  visits.requireOwnPage(request, visit, csrf);
  await visits.logout(request, response, visit);
  response.redirect(303, `${adminPath}/login`);
}

interface Shown {
  readonly status: number;
  readonly problem: string | null;
  /** The page to go to after the login. */
  readonly next: string;
}

function showLogin(
  { visits, adminPath, devMode }: LoginOptions,
  { request, response, visit }: { request: Request; response: Response; visit: Visit },
  { status = 200, problem = null, next = '' }: Partial<Shown>,
): void {
  const csrf = visits.csrfToken(request, response, visit);
  const body =
    visit.session?.callerId == null
      ? loginForm({ adminPath, csrf, problem, next, devMode })
      : sessionCard(visit.session, { adminPath, csrf });
  sendPage(response, status, { title: 'Log in', body, narrow: true });
}

function refusalOf(caller: Caller | null): Pick<Shown, 'status' | 'problem'> | null {
  if (!caller) return { status: 401, problem: 'This token is not valid, or has expired.' };
  if (caller.permissions.has('admin')) return null;
  return { status: 403, problem: 'This token lacks the admin permission.' };
}

const readOwnForm = (request: Request, response: Response, { bodies, bodyGraceSeconds }: LoginOptions) =>
  readSmallForm(request, response, { bodies, bodyGraceSeconds, holder: BODY_HOLDER });

const expirySchema = z.object({ exp: z.number() });

function expiryOf(token: string): number {
  return expirySchema.parse(jsonwebtoken.decode(token)).exp * 1_000;
}

/** Returns where to go after the login. Null unless it is a page under /admin, because a link can state any address. */
function safeTarget(next: string, adminPath: string): string | null {
  if (!next.startsWith(`${adminPath}/`) || !URL.canParse(next, 'http://quire')) return null;
  const { origin, pathname, search } = new URL(next, 'http://quire');
  const isLogin = /\/log(in|out)\/?$/.test(pathname);
  const isUnder = origin === 'http://quire' && pathname.startsWith(`${adminPath}/`);
  return isUnder && !isLogin && !pathname.includes('//') ? pathname + search : null;
}

interface ShownForm {
  readonly adminPath: string;
  readonly csrf: string;
}

/** The form that asks for an admin token. */
function loginForm({
  adminPath,
  csrf,
  problem,
  next,
  devMode,
}: ShownForm & { problem: string | null; next: string; devMode: boolean }): Html {
  return html`<form class="card" method="post" action="${adminPath}/login">
    <h1>Quire administration</h1>
    ${
      devMode
        ? html`<p>
            This service runs in dev mode: <a href="${adminPath}/queues">the queues</a> are open without a
            login.
          </p>`
        : html`<p>Log in with an access token that has the <code>admin</code> permission.</p>`
    }
    ${problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`}
    <input type="hidden" name="csrf" value="${csrf}" />
    <input type="hidden" name="next" value="${next}" />
    <label for="token">Admin token</label>
    <input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required autofocus />
    <button type="submit">Log in</button>
  </form>`;
}

/** Makes the card that a browser sees instead of the form when it is logged in. */
function sessionCard(
  { callerId, expiresAtMs }: { callerId: string | null; expiresAtMs: number },
  { adminPath, csrf }: ShownForm,
): Html {
  return html`<form class="card" method="post" action="${adminPath}/logout">
    <h1>Quire administration</h1>
    <p>Logged in as <strong>${callerId}</strong> until ${new Date(expiresAtMs).toISOString()}.</p>
    <p><a href="${adminPath}/queues">Queues</a></p>
    <input type="hidden" name="csrf" value="${csrf}" />
    <button type="submit" class="plain">Log out</button>
  </form>`;
}
