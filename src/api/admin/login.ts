import { Router, type Request, type Response } from 'express';
import jsonwebtoken from 'jsonwebtoken';
import { z } from 'zod';
import { anonymous, type Authenticate, type Caller } from '../auth/auth.js';
import type { Guesses } from '../auth/guesses.js';
import { clientAddressOf } from '../http/client-address.js';
import { continueBody } from '../http/connections/expect-continue.js';
import { HttpError } from '../http/http-error.js';
import { requestFacts } from '../http/logging/request-facts.js';
import type { BodyBudget } from '../http/request/body-budget.js';
import { mediaTypeOf } from '../http/request/body.js';
import { readForm } from '../http/request/form.js';
import { html, sendPage, type Html } from './html.js';
import type { Visit, Visits } from './visits.js';

const MAX_FORM_BYTES = 32 * 1024;
/** Whoever logs in is nobody yet. */
const STRANGERS = anonymous.id;

export interface LoginOptions {
  readonly visits: Visits;
  /** Knows tokens only: in dev mode, too, nobody is anybody without one. */
  readonly authenticate: Authenticate;
  readonly guesses: Guesses;
  readonly bodies: BodyBudget;
  readonly bodyGraceSeconds: number;
  readonly adminPath: string;
  readonly devMode: boolean;
}

/** A page that turns an admin token into a session, and shows and ends the session there is. */
export function createLogin(options: LoginOptions): Router {
  const { visits, authenticate, guesses, adminPath, devMode } = options;
  const router = Router({ caseSensitive: true, strict: true });
  const queues = `${adminPath}/queues`;

  const show = (request: Request, response: Response, visit: Visit, given: Partial<Shown> = {}) => {
    const { status = 200, problem = null, next = '' } = given;
    const csrf = visits.csrfToken(request, response, visit);
    const body = loginForm({ adminPath, csrf, problem, next, devMode });
    const current = visit.session?.callerId != null ? sessionCard(visit.session, { adminPath, csrf }) : null;
    sendPage(response, status, { title: 'Log in', body: current ?? body, narrow: true });
  };

  router.get('/login', async (request, response) => {
    requestFacts(request).route = '/admin/login';
    const { next = '' } = Object.fromEntries(new URL(request.originalUrl, 'http://quire').searchParams);
    show(request, response, await visits.read(request), { next });
  });

  router.post('/login', async (request, response) => {
    requestFacts(request).route = '/admin/login';
    const visit = await visits.read(request);
    const form = await readSmallForm(request, response, options);
    visits.requireOwnPage(request, { ...visit, isByToken: false }, form['csrf'] ?? '');
    const token = (form['token'] ?? '').trim();
    const next = form['next'] ?? '';
    const caller = authenticate(`Bearer ${token}`);
    const refusal = refusalOf(caller);
    if (!caller) await guesses.countWrong({ kind: 'signed-token', address: clientAddressOf(request) });
    if (!caller || refusal) {
      show(request, response, visit, { ...refusal, next });
      return;
    }
    requestFacts(request).callerId = caller.id;
    visits.login(request, response, caller, expiryOf(token));
    response.redirect(303, safeTarget(next, adminPath) ?? queues);
  });

  router.post('/logout', async (request, response) => {
    requestFacts(request).route = '/admin/logout';
    const visit = await visits.read(request);
    const form = await readSmallForm(request, response, options);
    visits.requireOwnPage(request, visit, form['csrf'] ?? '');
    await visits.logout(request, response, visit);
    response.redirect(303, `${adminPath}/login`);
  });

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

interface Shown {
  readonly status: number;
  readonly problem: string | null;
  readonly next: string;
}

function refusalOf(caller: Caller | null): Pick<Shown, 'status' | 'problem'> | null {
  if (!caller) return { status: 401, problem: 'This token is not valid, or has expired.' };
  if (caller.permissions.has('admin')) return null;
  return { status: 403, problem: 'This token lacks the admin permission.' };
}

async function readSmallForm(
  request: Request,
  response: Response,
  { bodies, bodyGraceSeconds: graceSeconds }: Pick<LoginOptions, 'bodies' | 'bodyGraceSeconds'>,
): Promise<Record<string, string>> {
  if (mediaTypeOf(request) !== 'application/x-www-form-urlencoded') {
    throw new HttpError(415, 'Expected a form');
  }
  const onReading = () => {
    continueBody(request, response);
  };
  const claim = bodies.claim(STRANGERS);
  try {
    return await readForm(request, { maxBytes: MAX_FORM_BYTES, onReading, claim, graceSeconds });
  } catch (error) {
    if (error instanceof HttpError && error.status === 413) throw new HttpError(413, 'The form is too large');
    throw error;
  } finally {
    claim.release();
  }
}

const withExpiry = z.object({ exp: z.number() });

function expiryOf(token: string): number {
  return withExpiry.parse(jsonwebtoken.decode(token)).exp * 1_000;
}

/** Where to go after the login: a place under /admin, whatever a link to the login page said; null if it is none. */
function safeTarget(next: string, adminPath: string): string | null {
  if (!next.startsWith(`${adminPath}/`) || !URL.canParse(next, 'http://quire')) return null;
  const { origin, pathname, search } = new URL(next, 'http://quire');
  const isLogin = /\/log(in|out)\/?$/.test(pathname);
  const isUnder = origin === 'http://quire' && pathname.startsWith(`${adminPath}/`);
  return isUnder && !isLogin && !pathname.includes('//') ? pathname + search : null;
}

interface FormOptions {
  readonly adminPath: string;
  readonly csrf: string;
}

function loginForm({
  adminPath,
  csrf,
  problem,
  next,
  devMode,
}: FormOptions & { problem: string | null; next: string; devMode: boolean }): Html {
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

function sessionCard(
  { callerId, expiresAtMs }: { callerId: string | null; expiresAtMs: number },
  { adminPath, csrf }: FormOptions,
): Html {
  return html`<form class="card" method="post" action="${adminPath}/logout">
    <h1>Quire administration</h1>
    <p>Logged in as <strong>${callerId}</strong> until ${new Date(expiresAtMs).toISOString()}.</p>
    <p><a href="${adminPath}/queues">Queues</a></p>
    <input type="hidden" name="csrf" value="${csrf}" />
    <button type="submit" class="plain">Log out</button>
  </form>`;
}
