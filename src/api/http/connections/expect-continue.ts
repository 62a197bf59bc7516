import type { IncomingMessage, ServerResponse } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/** Notes that the client sends its body only after it has received `100 Continue`. */
export function expectContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.add(request);
  // If the request is refused instead, the client may or may not send the body, so the connection cannot be used again.
  response.shouldKeepAlive = false;
}

/** Sends `100 Continue` if the client waits for it. */
export function continueBody(request: IncomingMessage, response: ServerResponse): void {
  if (!waiting.delete(request)) return;
  response.shouldKeepAlive = true;
  response.writeContinue();
}
