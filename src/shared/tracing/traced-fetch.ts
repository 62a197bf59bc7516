import { tracePlace } from './tracing.js';

/** Tells a server in which trace it is asked. */
export const tracedFetch: typeof fetch = (input, init) => {
  const place = tracePlace();
  if (!place) return fetch(input, init);
  const headers = new Headers(init?.headers);
  headers.set('traceparent', place.traceparent);
  return fetch(input, { ...init, headers });
};

/** Returns the function that sends requests to somebody else's provider, if not `fetch` itself. */
export const fetchFor = ({ toProviders }: { readonly toProviders: boolean }): typeof fetch | undefined =>
  toProviders ? tracedFetch : undefined;
