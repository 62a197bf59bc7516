import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';

export interface S3Request {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
}

/** Handles a request itself and returns true, or leaves it to the server behind. */
type Intervene = (asked: S3Request, response: ServerResponse, request: IncomingMessage) => boolean;

export interface S3Proxy {
  readonly endpoint: string;
  /** Every request so far. */
  readonly requests: readonly S3Request[];
  /** Connections on which an answer is under way. */
  openAnswers(): number;
  intervene(how: Intervene): void;
  close(): Promise<void>;
}

/** Stands before an S3 to watch it, and to be in trouble in its place. */
export async function startS3Proxy(endpoint: string): Promise<S3Proxy> {
  const requests: S3Request[] = [];
  const open = new Set<ServerResponse>();
  let intervene: Intervene = () => false;
  const server = createServer((request, response) => {
    const asked = { method: request.method ?? '', url: request.url ?? '' };
    requests.push(asked);
    open.add(response);
    response.once('close', () => open.delete(response));
    if (!intervene(asked, response, request)) forward(request, response, endpoint);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    endpoint: `http://127.0.0.1:${String(address.port)}`,
    requests,
    openAnswers: () => open.size,
    intervene: (how) => {
      intervene = how;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** With the very headers, `Host` too, since they are signed. */
function forward(request: IncomingMessage, response: ServerResponse, endpoint: string): void {
  const { method, url, headers } = request;
  const onward = send(new URL(url ?? '', endpoint), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  onward.once('error', () => response.destroy());
  response.once('close', () => onward.destroy());
  request.pipe(onward);
}
