import { isIP } from 'node:net';
import type { RequestHandler } from 'express';
import { isLoopbackHost } from '../../shared/settings/loopback.js';
import { hostName } from './base-url.js';
import { HttpError } from './http-error.js';

export interface HostOptions {
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
