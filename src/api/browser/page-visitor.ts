import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';
import { PERMISSIONS } from '../../shared/access/access-token.js';
import { principalOf } from '../../shared/access/access.js';
import type { Authenticate, Caller } from '../auth/authentication.js';
import { HttpError } from '../http/http-error.js';
import type { Session, Sessions } from './sessions.js';

/** Cookies for pages under /admin only; browsers do not send them for a page of another site. */
const LOGIN_COOKIE = 'quire_admin';
const VISITOR_COOKIE = 'quire_visitor';
/** The queue board's own script reads this cookie and sends it back in `CSRF_HEADER` with every write. */
const CSRF_COOKIE = 'XSRF-TOKEN';
const CSRF_HEADER = 'x-xsrf-token';

/** The visitor of a page under /admin, and how they authenticated. */
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
  /** The path at which browsers see /admin; it differs behind a proxy that adds a prefix. */
  readonly adminPath: string;
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
}

/** Reads and writes the cookies of sessions under /admin. */
export function createPageVisitor(options: VisitOptions): Visits {
  const { sessions, sessionMinutes, publicUrl } = options;
  return {
    read: (request) => readVisit(options, request),
    csrfToken: (request, response, { session }) => {
      const known = session ?? sessions.create(null, Date.now() + sessionMinutes * 60_000);
      if (!session) startSession(options, { request, response }, known);
      const value = sessions.csrfToken(known);
      setCookie(options, { request, response }, { name: CSRF_COOKIE, value });
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
    login: (request, response, { caller, tokenExpiresAtMs }) => {
      const expiresAtMs = Math.min(Date.now() + sessionMinutes * 60_000, tokenExpiresAtMs);
      startSession(options, { request, response }, sessions.create(caller.id, expiresAtMs));
    },
    logout: async (request, response, { session }) => {
      if (session) await sessions.end(session);
      for (const name of [LOGIN_COOKIE, VISITOR_COOKIE, CSRF_COOKIE]) {
        setCookie(options, { request, response }, { name, value: '' });
      }
    },
  };
}

async function readVisit({ sessions, authenticate }: VisitOptions, { headers }: Request): Promise<Visit> {
  const { authorization, cookie = '' } = headers;
  const isByToken = authorization !== undefined && /^Bearer /i.test(authorization);
  const cookies = parseCookie(cookie);
  const known = await sessions.open(cookies[LOGIN_COOKIE]);
  const login = known?.callerId == null ? null : { session: known, callerId: known.callerId };
  const session = login?.session ?? (await sessions.open(cookies[VISITOR_COOKIE]));
  const caller = login && !isByToken ? adminOf(login.callerId) : authenticate(authorization);
  return { caller, session, isByToken };
}

interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

function startSession(options: VisitOptions, exchange: Exchange, session: Session): void {
  const name = session.callerId === null ? VISITOR_COOKIE : LOGIN_COOKIE;
  setCookie(options, exchange, { name, value: options.sessions.seal(session) });
}

interface Cookie {
  readonly name: string;
  readonly value: string;
}

/** Sets a cookie; an empty value deletes it. */
function setCookie(
  { adminPath, sessionMinutes }: VisitOptions,
  { request, response }: Exchange,
  cookie: Cookie,
): void {
  // The session in the cookie holds its own expiry as well.
  const maxAge = cookie.value === '' ? 0 : sessionMinutes * 60;
  response.append('Set-Cookie', writeCookie(cookie, { request, path: adminPath, maxAge }));
}

function writeCookie(
  { name, value }: Cookie,
  { request, path, maxAge }: { request: Request; path: string; maxAge: number },
): string {
  return stringifySetCookie({
    name,
    value,
    path,
    sameSite: 'strict',
    httpOnly: name !== CSRF_COOKIE,
    secure: isSecure(request),
    maxAge,
  });
}

/** Only callers with the permission `admin` can log in. */
function adminOf(id: string): Caller {
  const permissions = new Set(PERMISSIONS);
  return { id, principal: principalOf(id), permissions, type: 'user', expiresAtMs: Infinity };
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
