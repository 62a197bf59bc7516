import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/**
 * From `begin` on every answer ends its connection (`Connection: close`, RFC 9112, 9.6), also those already under way, so
 * that clients who keep connections open go elsewhere before this end closes under their next request.
 */
export function createFarewell(server: Server): { begin: () => void } {
  const answering = new Set<ServerResponse>();
  let hasBegun = false;
  const note = (_request: IncomingMessage, response: ServerResponse) => {
    if (hasBegun) {
      close(response);
      return;
    }
    answering.add(response);
    response.once('close', () => answering.delete(response));
  };
  server.prependListener('request', note);
  server.prependListener('checkContinue', note);
  return {
    begin: () => {
      hasBegun = true;
      for (const response of answering) if (!response.headersSent) close(response);
      answering.clear();
    },
  };
}

function close(response: ServerResponse): void {
  response.setHeader('Connection', 'close');
}
