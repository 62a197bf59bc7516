import type { IncomingMessage } from 'node:http';
import type { Logger } from '../../../shared/observability/logger.js';

interface Source {
  readonly logger: Logger;
  readonly requestId: string;
}

const sources = new WeakMap<IncomingMessage, Source>();

export function giveLog(request: IncomingMessage, source: Source): void {
  sources.set(request, source);
}

/** Logs with the id of a request. Made when it is asked for: most requests have no more to tell than their one line. */
export function requestLog(request: IncomingMessage): Logger {
  const source = sources.get(request);
  if (!source) throw new Error('a request that did not pass the access log');
  return source.logger.child({ requestId: source.requestId });
}
