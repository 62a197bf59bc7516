import type { IncomingMessage } from 'node:http';

/** What logs and metrics say about a request in addition to its status. */
export interface RequestFacts {
  /** Pattern of the route, such as `/documents/{document_id}`; null when no route matched. */
  route: string | null;
  callerId: string | null;
}

const facts = new WeakMap<IncomingMessage, RequestFacts>();

export function requestFacts(request: IncomingMessage): RequestFacts {
  const known = facts.get(request) ?? { route: null, callerId: null };
  facts.set(request, known);
  return known;
}
