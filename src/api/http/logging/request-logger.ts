import type { IncomingMessage } from 'node:http';
import type { Logger } from '../../../shared/observability/logger.js';

interface Source {
  readonly logger: Logger;
  readonly requestId: string;
}

const sources = new WeakMap<IncomingMessage, Source>();

export function giveRequestLogger(request: IncomingMessage, source: Source): void {
  sources.set(request, source);
}

/** Returns a logger that adds the request's id. It is created on demand, because most requests need only the access log. */
export function requestLogger(request: IncomingMessage): Logger {
  const source = sources.get(request);
  if (!source) throw new Error('the request did not pass the access log');
  return source.logger.child({ requestId: source.requestId });
}
