import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/**
 * Prepares a server to announce its end: once `begin` is called, every response carries `Connection: close` (RFC 9112,
 * 9.6), including responses already under way. Clients with persistent connections then open their next one elsewhere, and
 * no connection is closed while a request is on its way.
 */
export function createConnectionClose(server: Server): { begin: () => void } {
  const responding = new Set<ServerResponse>();
  let hasBegun = false;
  const note = (_request: IncomingMessage, response: ServerResponse) => {
    if (hasBegun) {
      sendClose(response);
      return;
    }
    responding.add(response);
    response.once('close', () => responding.delete(response));
  };
  server.prependListener('request', note);
  server.prependListener('checkContinue', note);
  return {
    begin: () => {
      hasBegun = true;
      for (const response of responding) if (!response.headersSent) sendClose(response);
      responding.clear();
    },
  };
}

function sendClose(response: ServerResponse): void {
  response.setHeader('Connection', 'close');
}
