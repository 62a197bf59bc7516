import type { ApiRequest, Prefer } from '../http/route.js';
import type { RequestContext } from '../services/request-context.js';

/** Returns the facts about a request that services need, apart from its own content. The body can be freed meanwhile. */
export function contextOf(request: ApiRequest<unknown, unknown, unknown>): RequestContext {
  const { caller, requestId, startedAtMs, prefer, precondition, signal, arrival, reservation } = request;
  const waitSeconds = waitSecondsOf(prefer);
  const { id: callerId, principal, expiresAtMs } = caller;
  const asked = { callerId, principal, expiresAtMs, requestId, startedAtMs, waitSeconds, precondition };
  return { ...asked, signal, arrival, reservation };
}

/** A caller who states both preferences waits first, and gets an asynchronous answer only after that. */
function waitSecondsOf({ waitSeconds, respondAsync }: Prefer): number | null {
  return waitSeconds ?? (respondAsync ? 0 : null);
}
