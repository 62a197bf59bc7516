import type { IncomingMessage } from 'node:http';
import { at } from '../../../shared/at.js';

/** The maximum number of characters of a path that are logged. */
const MAX_PATH_LENGTH = 300;
const QUIET_PATHS = ['/health', '/health/ready', '/health/serving', '/metrics'];

/** Tells whether this is a probe, a scrape, or a request that an open queue board sends every few seconds. */
export function isQuiet(request: IncomingMessage): boolean {
  const path = pathOf(originalUrl(request));
  return QUIET_PATHS.includes(path) || (request.method === 'GET' && path.startsWith('/admin/queues/'));
}

/** Returns the full URL; in a mounted handler, `url` holds only the rest of it. */
export function originalUrl(request: IncomingMessage): string {
  return 'originalUrl' in request ? String(request.originalUrl) : (request.url ?? '');
}

export function pathOf(url: string): string {
  return at(url.split('?'), 0).slice(0, MAX_PATH_LENGTH);
}
