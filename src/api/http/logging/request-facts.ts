import type { IncomingMessage } from 'node:http';
import type { RequestAction } from '../../../shared/audit/entry.js';
import type { Caller } from '../../auth/authentication.js';
import { auditAction, auditCaller } from '../audit/audit-trail.js';

/** The facts that logs and metrics state about a request in addition to its status. */
export interface RequestFacts {
  /** Pattern of the route, such as `/documents/{document_id}`; null when no route matched. */
  readonly route: string | null;
  readonly callerId: string | null;
}

const NOTHING: RequestFacts = { route: null, callerId: null };
const facts = new WeakMap<IncomingMessage, RequestFacts>();

export const requestFacts = (request: IncomingMessage): RequestFacts => facts.get(request) ?? NOTHING;

/**
 * Notes the route of a request, and the name of its use in the audit log, null where nothing of anybody is read or changed.
 * The last call counts.
 * @throws UnavailableError where the audit log is required and cannot be written
 */
export function noteRoute(request: IncomingMessage, route: string, action: RequestAction | null): void {
  facts.set(request, { ...requestFacts(request), route });
  auditAction(request, action);
}

/** Notes who sends a request, once that is known. */
export function noteCaller(request: IncomingMessage, caller: Pick<Caller, 'id' | 'tokenId'> | null): void {
  facts.set(request, { ...requestFacts(request), callerId: caller?.id ?? null });
  auditCaller(request, caller);
}
