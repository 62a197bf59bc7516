import { isIP } from 'node:net';
import type { RequestHandler, Request } from 'express';
import { isLoopbackHost, parseTrustedProxies } from '../../shared/settings/addresses.js';
import { HttpError } from './http-error.js';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, If-Match, Prefer, X-Request-Id, ' +
  'Mcp-Method, Mcp-Name, MCP-Protocol-Version, Mcp-Session-Id';
const RESPONSE_HEADERS =
  'X-Request-Id, Location, Link, ETag, Retry-After, Preference-Applied, Idempotent-Replayed, Content-Disposition, ' +
  'Quire-Ignored, Quire-Rerank, Quire-Total, Mcp-Session-Id';

export interface CorsOptions {
  readonly origins: readonly string[];
  /** Allows loopback origins, and refuses writes from pages of other origins, since dev mode needs no token. */
  readonly devMode: boolean;
}

/** Lets pages of the allowed origins call the API (Fetch standard, CORS protocol) and answers their preflight requests. */
export function createCors({ origins, devMode }: CorsOptions): RequestHandler {
  const isAllowed = (origin: string) => origins.includes(origin) || (devMode && isLoopbackOrigin(origin));
  return (request, response, next) => {
    response.vary('Origin');
    const { origin } = request.headers;
    if (origin === undefined) {
      next();
      return;
    }
    const allowed = isAllowed(origin);
    const isForeign = !allowed && !isSameOrigin(origin, request.headers.host);
    if (isForeign && devMode && !['GET', 'HEAD', 'OPTIONS'].includes(request.method)) {
      throw new HttpError(403, 'Pages of this origin may not call the API');
    }
    if (allowed) {
      response.set({
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': RESPONSE_HEADERS,
      });
    }
    const isPreflight =
      request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
    if (!isPreflight) {
      next();
      return;
    }
    if (allowed) {
      response.set({
        'Access-Control-Allow-Methods': METHODS,
        'Access-Control-Allow-Headers': REQUEST_HEADERS,
        'Access-Control-Max-Age': '600',
      });
    }
    response.status(204).end();
  };
}

/** Tells whether the page is our own, such as `/docs`: browsers send the `Origin` header for our own pages as well. */
function isSameOrigin(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}

function isLoopbackOrigin(origin: string): boolean {
  return URL.canParse(origin) && isLoopbackHost(new URL(origin).hostname);
}

interface HostOptions {
  readonly devMode: boolean;
  /** True if other machines may use dev mode: by address, by a local name, or by one of `names`. */
  readonly allowRemoteDevMode: boolean;
  readonly names: readonly string[];
}

/**
 * Refuses requests without a valid `Host` header. In dev mode it also refuses hosts that are not ours: in a DNS rebinding
 * attack, a foreign page's name points to this machine, and the header holds that name.
 */
export function createHostGuard({ devMode, allowRemoteDevMode, names }: HostOptions): RequestHandler {
  const own = new Set(names.map((name) => name.toLowerCase()));
  const isOwn = (name: string) =>
    isLoopbackHost(name) || own.has(name) || (allowRemoteDevMode && (isIP(name) > 0 || !name.includes('.')));
  return (request, _response, next) => {
    const { host } = request.headers;
    // HTTP/1.0 allows requests without the header; no browser sends them.
    if (host === undefined && request.httpVersionMinor === 0) {
      next();
      return;
    }
    // With two headers, a proxy in front may have used the other one.
    const [given, ...others] = request.headersDistinct['host'] ?? [];
    const name = given === undefined || others.length > 0 ? null : hostName(given);
    if (name === null) throw new HttpError(400, 'Invalid Host header');
    if (devMode && !isOwn(name)) throw new HttpError(403, 'Host not allowed in dev mode');
    next();
  };
}

/** Returns the public address of the service without a trailing slash: as set, else as this request reached it. */
export function baseUrlOf(request: Request, publicUrl: string): string {
  if (publicUrl !== '') return withoutSlashes(publicUrl);
  const { localAddress = '127.0.0.1', localPort = 80 } = request.socket;
  const local = `${isIP(localAddress) === 6 ? `[${localAddress}]` : localAddress}:${String(localPort)}`;
  // @NOTE express's type does not say it: without a `Host` header (HTTP/1.0) `host` is undefined.
  const place = hostName(request.host) === null ? local : request.host;
  return `${request.protocol === 'https' ? 'https' : 'http'}://${place}`;
}

/** Says where `baseUrlOf` takes the address from that links and redirects begin with, for the log. */
export function sourceOfBaseUrl({
  publicUrl,
  trustProxy,
}: {
  publicUrl: string;
  trustProxy: string;
}): string {
  if (publicUrl !== '') return 'api.public_url';
  return parseTrustedProxies(trustProxy) === 0
    ? 'Host'
    : 'X-Forwarded-Host and X-Forwarded-Proto of trusted proxies, else Host';
}

/** Removes slashes at the end. */
export function withoutSlashes(path: string): string {
  let end = path.length;
  while (path.charAt(end - 1) === '/') end -= 1;
  return path.slice(0, end);
}

/** Returns the name or address of `name[:port]` in lower case, without brackets; null when it is malformed. */
function hostName(host: string | undefined): string | null {
  if (host === undefined) return null;
  const [, address, name] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  return (address ?? name)?.toLowerCase() ?? null;
}
