import { Router, type Request, type Response } from 'express';
import jsonwebtoken from 'jsonwebtoken';
import { z } from 'zod';
import { anonymous, createAuthentication, type Caller } from '../auth/authentication.js';
import type { Guesses } from '../auth/guess-limit.js';
import { clientAddressOf } from '../http/client-address.js';
import { HttpError } from '../http/http-error.js';
import { noteCaller, noteRoute } from '../http/logging/access-log.js';
import { sendPage, html, type Html } from './html.js';
import type { Visit, Visits } from './page-visitor.js';
import type { Realm } from './realm.js';
import { readSmallForm, type FormOptions } from './small-form.js';

/** Before the login, all clients share the memory of anonymous callers. */
const BODY_HOLDER = anonymous.id;

export interface LoginOptions extends FormOptions {
  readonly visits: Visits;
  /** The current secret, then the previous one while it is being changed. */
  readonly secrets: readonly string[];
  readonly guesses: Guesses;
  readonly realm: Realm;
  readonly devMode: boolean;
}

/** The page at which a token is exchanged for a session. It also shows and ends the current session. */
export function createLogin(options: LoginOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/login', async (request, response) => {
    noteLogin(options, request, 'view');
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
  const { visits, guesses, realm } = options;
  noteLogin(options, request, 'login');
  const visit = await visits.read(request);
  const { csrf = '', token: given = '', next = '' } = await readOwnForm(request, response, options);
  visits.requireOwnPage(request, { ...visit, isByToken: false }, csrf);
  const token = given.trim();
  const signed = verify(options, token);
  const refusal = refusalOf(signed?.caller, realm);
  if (!signed) await guesses.countWrong({ kind: 'signed-token', address: clientAddressOf(request) });
  if (!signed || refusal) {
    showLogin(options, { request, response, visit }, { ...refusal, next });
    return;
  }
  noteCaller(request, signed.caller);
  visits.login(request, response, { ...signed, tokenExpiresAtMs: expiryOf(token) });
  response.redirect(303, safeTarget(next, realm.path) ?? realm.path + (realm.home?.path ?? '/login'));
}

/** Authenticates by a token only, even in dev mode. */
function verify({ secrets }: LoginOptions, token: string): { caller: Caller; secret: string } | null {
  for (const secret of secrets) {
    const caller = createAuthentication({ secrets: [secret], devMode: false })(`Bearer ${token}`);
    if (caller) return { caller, secret };
  }
  return null;
}

/** Notes a request to the pages of the login. */
function noteLogin(
  { realm: { name } }: LoginOptions,
  request: Request,
  action: 'view' | 'login' | 'logout',
): void {
  noteRoute(request, `/${name}/${action === 'logout' ? 'logout' : 'login'}`, `${name}.${action}`);
}

async function logOut(options: LoginOptions, request: Request, response: Response): Promise<void> {
  const { visits, realm } = options;
  noteLogin(options, request, 'logout');
  const visit = await visits.read(request);
  noteCaller(request, visit.caller);
  const { csrf = '' } = await readOwnForm(request, response, options);
  visits.requireOwnPage(request, visit, csrf);
  await visits.logout(request, response, visit);
  response.redirect(303, `${realm.path}/login`);
}

interface Shown {
  readonly status: number;
  readonly problem: string | null;
  /** The page to go to after the login. */
  readonly next: string;
}

/** Shows the form, or the session of who is logged in. */
export function showLogin(
  { visits, realm, devMode }: LoginOptions,
  { request, response, visit }: { request: Request; response: Response; visit: Visit },
  { status = 200, problem = null, next = '' }: Partial<Shown>,
): void {
  const csrf = visits.csrfToken(request, response, visit);
  const body =
    visit.session?.callerId == null
      ? loginForm({ realm, csrf, problem, next, devMode })
      : sessionCard(visit.session, { realm, csrf });
  // With helmet's `no-referrer`, browsers would send the form with the origin `null`.
  response.set('Referrer-Policy', 'same-origin');
  sendPage(response, status, { title: 'Log in', body, narrow: true });
}

function refusalOf(
  caller: Caller | undefined,
  { permission }: Realm,
): Pick<Shown, 'status' | 'problem'> | null {
  if (!caller) return { status: 401, problem: 'This token is not valid, or has expired.' };
  if (caller.permissions.has(permission)) return null;
  return { status: 403, problem: `This token lacks the ${permission} permission.` };
}

const readOwnForm = (request: Request, response: Response, { bodies, bodyGraceSeconds }: LoginOptions) =>
  readSmallForm(request, response, { bodies, bodyGraceSeconds, holder: BODY_HOLDER });

const expirySchema = z.object({ exp: z.number() });

function expiryOf(token: string): number {
  return expirySchema.parse(jsonwebtoken.decode(token)).exp * 1_000;
}

/** Returns where to go after the login. Null unless it is a page of the realm, because a link can state any address. */
function safeTarget(next: string, path: string): string | null {
  if (!next.startsWith(`${path}/`) || !URL.canParse(next, 'http://quire')) return null;
  const { origin, pathname, search } = new URL(next, 'http://quire');
  const isLogin = /\/log(in|out)\/?$/.test(pathname);
  const isUnder = origin === 'http://quire' && pathname.startsWith(`${path}/`);
  return isUnder && !isLogin && !pathname.includes('//') ? pathname + search : null;
}

interface ShownForm {
  readonly realm: Realm;
  readonly csrf: string;
}

/** The form that asks for a token. */
function loginForm({
  realm,
  csrf,
  problem,
  next,
  devMode,
}: ShownForm & { problem: string | null; next: string; devMode: boolean }): Html {
  return html`<form class="card" method="post" action="${realm.path}/login">
    <h1>${realm.title}</h1>
    <p>${devMode ? realm.advice.devMode : realm.advice.usual}</p>
    ${devMode ? homeLink(realm) : null}
    ${problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`}
    <input type="hidden" name="csrf" value="${csrf}" />
    <input type="hidden" name="next" value="${next}" />
    <label for="token">${realm.permission === 'admin' ? 'Admin token' : 'Access token'}</label>
    <input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required autofocus />
    <button type="submit">Log in</button>
  </form>`;
}

/** Makes the card that a browser sees instead of the form when it is logged in. */
function sessionCard(
  { callerId, expiresAtMs }: { callerId: string | null; expiresAtMs: number },
  { realm, csrf }: ShownForm,
): Html {
  return html`<form class="card" method="post" action="${realm.path}/logout">
    <h1>${realm.title}</h1>
    <p>Logged in as <strong>${callerId}</strong> until ${new Date(expiresAtMs).toISOString()}.</p>
    ${homeLink(realm)}
    <input type="hidden" name="csrf" value="${csrf}" />
    <button type="submit" class="plain">Log out</button>
  </form>`;
}

const homeLink = ({ path, home }: Realm): Html | null =>
  home && html`<p><a href="${path}${home.path}">${home.name}</a></p>`;
