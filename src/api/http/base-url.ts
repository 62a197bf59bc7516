import { isIP } from 'node:net';
import type { Request } from 'express';
import { parseTrustedProxies } from '../../shared/settings/trusted-proxies.js';

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
export function hostName(host: string | undefined): string | null {
  if (host === undefined) return null;
  const [, address, name] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  return (address ?? name)?.toLowerCase() ?? null;
}
