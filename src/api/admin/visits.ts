import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';
import type { Authenticate, Caller } from '../auth/auth.js';
import { HttpError } from '../http/http-error.js';
import type { Session, Sessions } from './sessions.js';

/** Good for pages under /admin only, and never sent along by a page of another site. */
const LOGIN_COOKIE = 'quire_admin';
const VISITOR_COOKIE = 'quire_visitor';
/** Read by the queue board's own script, which sends it back in `CSRF_HEADER` with every write. */
const CSRF_COOKIE = 'XSRF-TOKEN';
const CSRF_HEADER = 'x-xsrf-token';

/** Who looks at a page under /admin, and by what right. */
export interface Visit {
  readonly caller: Caller | null;
  /** The login, else the browser as such; null before its first page. */
  readonly session: Session | null;
  /** A bearer token says who it is: no browser sends one on behalf of another page. */
  readonly isByToken: boolean;
}

export interface VisitOptions {
  readonly sessions: Sessions;
  readonly authenticate: Authenticate;
  readonly sessionMinutes: number;
  /** Where browsers see /admin: differs behind a proxy that adds a prefix. */
  readonly adminPath: string;
  readonly publicUrl: string;
}

export type Visits = ReturnType<typeof createVisits>;

export function createVisits(options: VisitOptions) {
  const { sessions, authenticate, sessionMinutes, adminPath, publicUrl } = options;

  const setCookie = (request: Request, response: Response, cookie: Cookie) => {
    // The session in it expires by itself, too.
    const maxAge = cookie.value === '' ? 0 : sessionMinutes * 60;
    response.append('Set-Cookie', writeCookie(cookie, { request, path: adminPath, maxAge }));
  };

  const start = (request: Request, response: Response, session: Session) => {
    const name = session.callerId === null ? VISITOR_COOKIE : LOGIN_COOKIE;
    setCookie(request, response, { name, value: sessions.seal(session) });
  };

  return {
    read: async (request: Request): Promise<Visit> => {
      const { authorization, cookie = '' } = request.headers;
      const isByToken = /^Bearer /i.test(authorization ?? '');
      const cookies = parseCookie(cookie);
      const login = await sessions.open(cookies[LOGIN_COOKIE]);
      const isLogin = login !== null && login.callerId !== null;
      const session = isLogin ? login : await sessions.open(cookies[VISITOR_COOKIE]);
      const known = authenticate(authorization);
      const caller = isLogin && !isByToken ? callerOf(login) : known;
      return { caller, session, isByToken };
    },

    /** What a page's forms must hold and its script must send; gives the browser a session when it has none. */
    csrfToken: (request: Request, response: Response, { session }: Visit): string => {
      const known = session ?? sessions.create(null, Date.now() + sessionMinutes * 60_000);
      if (!session) start(request, response, known);
      const value = sessions.csrfToken(known);
      setCookie(request, response, { name: CSRF_COOKIE, value });
      return value;
    },

    /** @throws HttpError 403 unless a page of ours sent this */
    requireOwnPage: (request: Request, { session, isByToken }: Visit, inForm?: string): void => {
      if (isForeign(request, publicUrl)) throw new HttpError(403, 'Pages of other origins may not do this');
      if (isByToken) return;
      const given = inForm ?? request.get(CSRF_HEADER) ?? '';
      if (!session || !sessions.isCsrfToken(session, given)) {
        throw new HttpError(403, 'CSRF token missing or expired: load the page again');
      }
    },

    /** Until the token that was shown expires, at most. */
    login: (request: Request, response: Response, caller: Caller, tokenExpiresAtMs: number): void => {
      const expiresAtMs = Math.min(Date.now() + sessionMinutes * 60_000, tokenExpiresAtMs);
      start(request, response, sessions.create(caller.id, expiresAtMs));
    },

    logout: async (request: Request, response: Response, { session }: Visit): Promise<void> => {
      if (session) await sessions.end(session);
      for (const name of [LOGIN_COOKIE, VISITOR_COOKIE, CSRF_COOKIE]) {
        setCookie(request, response, { name, value: '' });
      }
    },
  };
}

interface Cookie {
  readonly name: string;
  readonly value: string;
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

function callerOf({ callerId }: Session): Caller {
  return { id: callerId ?? '', permissions: new Set(['read', 'write', 'admin']), type: 'user' };
}

/** What the browser says wins: a proxy may end TLS without telling us. */
function isSecure(request: Request): boolean {
  return request.protocol === 'https' || (request.headers.origin ?? '').startsWith('https:');
}

/** By Fetch's request headers: where the page that asks is from (browsers send them with every write). */
function isForeign({ headers }: Request, publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return true;
  const { origin, host } = headers;
  if (origin === undefined) return false;
  if (!URL.canParse(origin)) return true;
  const own = [host, publicUrl === '' ? undefined : new URL(publicUrl).host];
  return !own.includes(new URL(origin).host);
}
