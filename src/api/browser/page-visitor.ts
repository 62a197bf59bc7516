import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';
import { PERMISSIONS } from '../../shared/access/access-token.js';
import { principalOf } from '../../shared/access/access.js';
import type { Authenticate, Caller } from '../auth/authentication.js';
import { HttpError } from '../http/http-error.js';
import type { Realm } from './realm.js';
import type { Session, Sessions } from './sessions.js';

const VISITOR_COOKIE = 'quire_visitor';
/** The header in which a script sends the token of its realm's `csrfCookie` back with every write. */
const CSRF_HEADER = 'x-xsrf-token';

/** The cookie of a login, which browsers send to the pages of its realm only. */
const loginCookie = ({ name }: Realm): string => `quire_${name}`;

/** The visitor of a page of a realm, and how they authenticated. */
export interface Visit {
  readonly caller: Caller | null;
  /** The session of the login, else the anonymous one of the browser; null before its first page. */
  readonly session: Session | null;
  /** True for a bearer token. Such a request needs no CSRF token, since no browser sends one on behalf of another page. */
  readonly isByToken: boolean;
}

export interface VisitOptions {
  readonly sessions: Sessions;
  readonly authenticate: Authenticate;
  readonly sessionMinutes: number;
  readonly realm: Realm;
  readonly publicUrl: string;
}

export interface Visits {
  read(request: Request): Promise<Visit>;
  /**
   * Returns the token that a page's forms must contain and its script must send. Starts a session for a browser that has
   * none.
   */
  csrfToken(request: Request, response: Response, visit: Visit): string;
  /** @throws HttpError 403 unless one of our own pages sent this request */
  requireOwnPage(request: Request, visit: Visit, tokenInForm?: string): void;
  /** Starts a session, which lasts no longer than the token that was shown. */
  login(request: Request, response: Response, login: Login): void;
  logout(request: Request, response: Response, visit: Visit): Promise<void>;
}

interface Login {
  readonly caller: Caller;
  readonly tokenExpiresAtMs: number;
  /** The secret that signed the token: whoever gives it up ends the session, too. */
  readonly secret: string;
}

/** Reads and writes the cookies of the sessions of a realm. */
export function createPageVisitor(options: VisitOptions): Visits {
  const { sessions, sessionMinutes, publicUrl, realm } = options;
  return {
    read: (request) => readVisit(options, request),
    csrfToken: (request, response, { session }) => {
      const known = session ?? sessions.create(null, Date.now() + sessionMinutes * 60_000);
      if (!session) startSession(options, { request, response }, known);
      const value = sessions.csrfToken(known);
      if (realm.csrfCookie !== null)
        setCookie(options, { request, response }, { name: realm.csrfCookie, value });
      return value;
    },
    requireOwnPage: (request, { session, isByToken }, tokenInForm) => {
      if (isForeign(request, publicUrl)) throw new HttpError(403, 'Pages of other origins may not do this');
      if (isByToken) return;
      const given = tokenInForm ?? request.get(CSRF_HEADER);
      if (!session || given === undefined || !sessions.isCsrfToken(session, given)) {
        throw new HttpError(403, 'CSRF token missing or expired: load the page again');
      }
    },
    login: (request, response, { caller, tokenExpiresAtMs, secret }) => {
      const expiresAtMs = Math.min(Date.now() + sessionMinutes * 60_000, tokenExpiresAtMs);
      startSession(options, { request, response }, sessions.create(caller.id, expiresAtMs), secret);
    },
    logout: async (request, response, { session }) => {
      if (session) await sessions.end(session);
      for (const name of [loginCookie(realm), VISITOR_COOKIE, realm.csrfCookie]) {
        if (name === null) continue;
        setCookie(options, { request, response }, { name, value: '' });
      }
    },
  };
}

async function readVisit(
  { sessions, authenticate, realm }: VisitOptions,
  { headers }: Request,
): Promise<Visit> {
  const { authorization, cookie = '' } = headers;
  const isByToken = authorization !== undefined && /^Bearer /i.test(authorization);
  const cookies = parseCookie(cookie);
  const known = await sessions.open(cookies[loginCookie(realm)]);
  const login = known?.callerId == null ? null : { session: known, callerId: known.callerId };
  const session = login?.session ?? (await sessions.open(cookies[VISITOR_COOKIE]));
  const caller = login && !isByToken ? callerOf(login, realm) : authenticate(authorization);
  return { caller, session, isByToken };
}

interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

function startSession(options: VisitOptions, exchange: Exchange, session: Session, secret?: string): void {
  const name = session.callerId === null ? VISITOR_COOKIE : loginCookie(options.realm);
  setCookie(options, exchange, { name, value: options.sessions.seal(session, secret) });
}

interface Cookie {
  readonly name: string;
  readonly value: string;
}

/** Sets a cookie; an empty value deletes it. */
function setCookie(
  { realm, sessionMinutes }: VisitOptions,
  { request, response }: Exchange,
  cookie: Cookie,
): void {
  // The session in the cookie holds its own expiry as well.
  const maxAge = cookie.value === '' ? 0 : sessionMinutes * 60;
  response.append('Set-Cookie', writeCookie(cookie, { request, realm, maxAge }));
}

function writeCookie(
  { name, value }: Cookie,
  { request, realm, maxAge }: { request: Request; realm: Realm; maxAge: number },
): string {
  return stringifySetCookie({
    name,
    value,
    path: realm.path,
    sameSite: realm.sameSite,
    httpOnly: name !== realm.csrfCookie,
    secure: isSecure(request),
    maxAge,
  });
}

/** Only callers with the permission of the realm can log in, and they may do no more with the session. */
function callerOf(
  { callerId: id, session }: { readonly callerId: string; readonly session: Session },
  { permission }: Realm,
): Caller {
  const permissions = new Set(permission === 'admin' ? PERMISSIONS : [permission]);
  return { id, principal: principalOf(id), permissions, type: 'user', expiresAtMs: session.expiresAtMs };
}

/** The browser's `Origin` header counts as well, because a proxy may end TLS without telling us. */
function isSecure(request: Request): boolean {
  return request.protocol === 'https' || request.headers.origin?.startsWith('https:') === true;
}

/** Tells whether a page of another origin sent the request, by the headers that browsers send with every write. */
function isForeign({ headers }: Request, publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return true;
  const { origin, host } = headers;
  if (origin === undefined) return false;
  if (!URL.canParse(origin)) return true;
  const own = [host, publicUrl === '' ? undefined : new URL(publicUrl).host];
  return !own.includes(new URL(origin).host);
}
