import { isIP } from 'node:net';
import type { Request, RequestHandler } from 'express';
import { isLoopbackHost } from '../../shared/settings/loopback.js';
import { HttpError } from './http-error.js';

export interface HostOptions {
  readonly devMode: boolean;
  /** Other machines may reach dev mode: by address, by a local name, or by one of `names`. */
  readonly allowRemoteDevMode: boolean;
  readonly names: readonly string[];
}

/**
 * Refuses requests without a usable `Host`, and in dev mode those for a host that is not ours: a page whose name was
 * made to point here (DNS rebinding) has its own name in that header.
 */
export function createHostGuard({ devMode, allowRemoteDevMode, names }: HostOptions): RequestHandler {
  const own = new Set(names.map((name) => name.toLowerCase()));
  const isOwn = (name: string) =>
    isLoopbackHost(name) || own.has(name) || (allowRemoteDevMode && (isIP(name) > 0 || !name.includes('.')));
  return (request, _response, next) => {
    const { host } = request.headers;
    // HTTP/1.0 knows requests without one; no browser sends them.
    if (host === undefined && request.httpVersionMinor === 0) {
      next();
      return;
    }
    // Of two, a proxy in front may have believed the other one.
    const isAmbiguous = (request.headersDistinct['host']?.length ?? 0) > 1;
    const name = isAmbiguous ? null : hostName(host);
    if (name === null) throw new HttpError(400, 'Invalid Host header');
    if (devMode && !isOwn(name)) throw new HttpError(403, 'Host not allowed in dev mode');
    next();
  };
}

/** The name or address of `name[:port]` in lower case, without brackets; null when it is none. */
function hostName(host: string | undefined): string | null {
  const [, address, name] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(host ?? '') ?? [];
  return (address ?? name)?.toLowerCase() ?? null;
}

/** Public address of the service without a trailing slash: as set, else as this request reached it. */
export function baseUrlOf(request: Request, publicUrl: string): string {
  if (publicUrl !== '') return withoutSlashes(publicUrl);
  const { localAddress = '127.0.0.1', localPort = 80 } = request.socket;
  const local = `${isIP(localAddress) === 6 ? `[${localAddress}]` : localAddress}:${String(localPort)}`;
  const place = hostName(request.host) === null ? local : request.host;
  return `${request.protocol === 'https' ? 'https' : 'http'}://${place}`;
}

/** Without slashes at the end. */
export function withoutSlashes(path: string): string {
  let end = path.length;
  while (path.charAt(end - 1) === '/') end -= 1;
  return path.slice(0, end);
}
