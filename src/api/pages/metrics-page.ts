import type { Request, RequestHandler } from 'express';
import { Registry } from 'prom-client';
import {
  OPEN_METRICS_TYPE,
  renderOpenMetrics,
  type MetricsSource,
} from '../../shared/observability/prometheus.js';
import { isLoopbackHost } from '../../shared/settings/addresses.js';
import {
  isSamePassword,
  notAuthenticated,
  requirePermission,
  type Authenticate,
} from '../auth/authentication.js';
import type { Guesses } from '../auth/guess-limit.js';
import { clientAddressOf } from '../http/client-address.js';
import { HttpError } from '../http/http-error.js';
import { noteCaller, noteRoute } from '../http/logging/access-log.js';
import { headerOf } from '../http/request/headers.js';

export interface MetricsPageOptions {
  /** Each gives a part of the page. */
  readonly sources: readonly MetricsSource[];
  /** Knows callers by their tokens alone: a request without a token has no caller, in dev mode either. */
  readonly authenticate: Authenticate;
  /** The token of scrapers. When it is empty, only admin tokens open the page. */
  readonly token: string;
  readonly devMode: boolean;
  readonly guesses: Guesses;
}

/** The page that Prometheus scrapes. */
export function createMetricsPage(options: MetricsPageOptions): RequestHandler {
  const { sources } = options;
  return async (request, response, next) => {
    if (request.path !== '/') {
      next();
      return;
    }
    noteRoute(request, '/metrics', null);
    await admit(request, options);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new HttpError(405, 'Method Not Allowed', { headers: { Allow: 'GET, HEAD' } });
    }
    const { type, text } = await render(sources, request);
    response.set({ 'Content-Type': type, 'Cache-Control': 'no-store', Vary: 'Accept' });
    response.end(text);
  };
}

/** The text format of Prometheus, or OpenMetrics for scrapers that prefer it, which alone has exemplars. */
async function render(sources: readonly MetricsSource[], request: Request) {
  if (prefersOpenMetrics(headerOf(request, 'accept'))) {
    const families = await Promise.all(sources.map((source) => source.families()));
    return { type: OPEN_METRICS_TYPE, text: renderOpenMetrics(families.flat()) };
  }
  const parts = await Promise.all(sources.map((source) => source.text()));
  const text = parts.map((part) => (part.endsWith('\n') ? part : `${part}\n`)).join('');
  return { type: Registry.PROMETHEUS_CONTENT_TYPE, text };
}

/**
 * Tells whether a scraper prefers OpenMetrics. Scrapers name versions and more of a type, by which Express would find that
 * none fits.
 */
function prefersOpenMetrics(accept: string): boolean {
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((part) => part.startsWith('q='))?.slice(2) ?? '1';
    return { type, weight: Number(weight) || 0 };
  });
  const best = (wanted: string) =>
    Math.max(0, ...ranges.filter(({ type }) => type === wanted).map(({ weight }) => weight));
  const open = best('application/openmetrics-text');
  return open > 0 && open >= best('text/plain');
}

/** @throws HttpError 401, or 403 for a token that lacks `admin`; TooManyError after too many guesses */
async function admit(request: Request, options: MetricsPageOptions): Promise<void> {
  const { authenticate, devMode } = options;
  const { authorization } = request.headers;
  if (devMode && isLocal(request)) return;
  const caller = authenticate(authorization);
  noteCaller(request, caller);
  if (caller) requirePermission(caller, 'admin');
  else if (!(await isScraper(request, options))) throw notAuthenticated();
}

async function isScraper(request: Request, { token, guesses }: MetricsPageOptions): Promise<boolean> {
  const given = /^Bearer +([^\s]+) *$/i.exec(headerOf(request, 'authorization'))?.[1];
  if (given === undefined || token === '') return false;
  const guess = { kind: 'scrape-token', address: clientAddressOf(request) } as const;
  return guesses.check(guess, () => isSamePassword(given, token));
}

/** Tells whether the request comes from this machine itself, and not through a proxy on it. */
function isLocal({ socket, headers }: Request): boolean {
  const peer = socket.remoteAddress?.replace(/^::ffff:/, '');
  // A connection that has ended tells no address.
  if (peer === undefined) return false;
  return isLoopbackHost(peer) && headers['x-forwarded-for'] === undefined && headers.forwarded === undefined;
}
