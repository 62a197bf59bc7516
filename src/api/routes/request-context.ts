import type { ApiRequest, Prefer } from '../http/route.js';
import type { RequestContext } from '../services/request-context.js';

/** What services need to know of a request beside what it asks. It does not hold on to the body. */
export function contextOf(request: ApiRequest<unknown, unknown, unknown>): RequestContext {
  const { caller, requestId, startedAtMs, prefer, signal } = request;
  return { callerId: caller.id, requestId, startedAtMs, waitSeconds: waitSecondsOf(prefer), signal };
}

/** With both preferences the caller waits first, and gets an asynchronous answer only after that. */
function waitSecondsOf({ waitSeconds, respondAsync }: Prefer): number | null {
  return waitSeconds ?? (respondAsync ? 0 : null);
}
