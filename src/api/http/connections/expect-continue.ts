import type { IncomingMessage, ServerResponse } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/** Notes that the client holds its body back until it hears `100 Continue`. */
export function expectContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.add(request);
  // If it is refused instead, nobody can tell where its next request would begin.
  response.shouldKeepAlive = false;
}

/** Asks for the body, if the client waits to be asked. */
export function continueBody(request: IncomingMessage, response: ServerResponse): void {
  if (!waiting.delete(request)) return;
  response.shouldKeepAlive = true;
  response.writeContinue();
}
