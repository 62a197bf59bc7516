import type { Request, RequestHandler } from 'express';
import { Registry } from 'prom-client';
import { AppError } from '../shared/errors.js';
import { isLoopbackHost } from '../shared/loopback.js';
import { isSamePassword, notAuthenticated, requirePermission, type Authenticate } from './auth.js';
import { requestFacts } from './request-facts.js';

export interface MetricsPageOptions {
  /** Prometheus text, in parts. */
  readonly sources: readonly (() => Promise<string>)[];
  /** Knows tokens only: nobody is anybody without one, in dev mode neither. */
  readonly authenticate: Authenticate;
  /** What scrapers show; empty: admin tokens only. */
  readonly token: string;
  readonly devMode: boolean;
}

/** What Prometheus scrapes. */
export function createMetricsPage(options: MetricsPageOptions): RequestHandler {
  const { sources } = options;
  return async (request, response, next) => {
    if (request.path !== '/') {
      next();
      return;
    }
    requestFacts(request).route = '/metrics';
    admit(request, options);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new AppError(405, 'Method Not Allowed', { headers: { Allow: 'GET, HEAD' } });
    }
    const parts = await Promise.all(sources.map((source) => source()));
    const text = parts.map((part) => (part.endsWith('\n') ? part : `${part}\n`)).join('');
    response.set({ 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE, 'Cache-Control': 'no-store' });
    response.end(text);
  };
}

/** @throws AppError 401, or 403 for a token that lacks `admin` */
function admit(request: Request, { authenticate, token, devMode }: MetricsPageOptions): void {
  const { authorization } = request.headers;
  const given = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
  if (given !== undefined && token !== '' && isSamePassword(given, token)) return;
  if (devMode && isLocal(request)) return;
  const caller = authenticate(authorization);
  requestFacts(request).callerId = caller?.id ?? null;
  if (!caller) throw notAuthenticated();
  requirePermission(caller, 'admin');
}

/** Asked from this machine itself, and not by way of a proxy on it. */
function isLocal({ socket, headers }: Request): boolean {
  const peer = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  return isLoopbackHost(peer) && headers['x-forwarded-for'] === undefined && headers.forwarded === undefined;
}
