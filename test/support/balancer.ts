import { once } from 'node:events';
import {
  Agent,
  createServer,
  request as ask,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const CHECK_MILLISECONDS = 100;
const MAX_TRIES = 20;

export interface Balancer {
  readonly url: string;
  /** The number of answers from each port. */
  readonly answers: ReadonlyMap<number, number>;
  /** Tells whether requests go to the process at a port. */
  isUp(port: number): boolean;
  stop(): Promise<void>;
}

interface BalancerOptions {
  readonly ports: readonly number[];
  /**
   * `asks`: sends requests only to those that answer `/health/serving` with 200, over connections that it keeps.
   * `tries`: knows nothing of them, and opens a connection for each request.
   * Both send a request elsewhere where no connection comes about, which is the one failure before which nothing was sent.
   * `asks and trusts`: as `asks`, but a request that finds no connection has failed.
   */
  readonly kind: 'asks' | 'tries' | 'asks and trusts';
}

/** The least that may stand in front of several APIs. */
export async function startBalancer({ ports, kind }: BalancerOptions): Promise<Balancer> {
  const up = new Set(kind === 'tries' ? ports : []);
  const answers = new Map<number, number>();
  const agent = kind === 'tries' ? false : new Agent({ keepAlive: true });
  let turn = 0;
  const next = (): number | undefined => {
    const all = ports.filter((port) => up.has(port));
    turn += 1;
    return all[turn % all.length];
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request);
    const { method, url: path, headers } = request;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const port = next();
      if (port === undefined) break;
      const upstream = ask({ host: '127.0.0.1', port, method, path, headers, agent });
      upstream.end(body);
      try {
        const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
        const text = await buffer(answer);
        answers.set(port, (answers.get(port) ?? 0) + 1);
        const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...others } = answer.headers;
        response.writeHead(answer.statusCode ?? 502, others).end(text);
        return;
      } catch (error) {
        // Nothing was sent.
        if (isOfConnecting(error) && kind !== 'asks and trusts') continue;
        response.writeHead(502).end(JSON.stringify({ detail: `port ${String(port)}: ${String(error)}` }));
        return;
      }
    }
    response.writeHead(502).end(JSON.stringify({ detail: 'nobody to send it to' }));
  };
  const listener: RequestListener = (request, response) => {
    handle(request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  };
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');

  let isOver = false;
  const check = async (port: number) => {
    while (!isOver) {
      const answer = await fetch(`http://127.0.0.1:${String(port)}/health/serving`).catch(() => null);
      await answer?.arrayBuffer().catch(() => null);
      if (answer?.status === 200) up.add(port);
      else up.delete(port);
      await sleep(CHECK_MILLISECONDS);
    }
  };
  const checking = kind === 'tries' ? [] : ports.map(check);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${String(address.port)}`,
    answers,
    isUp: (port) => up.has(port),
    stop: async () => {
      isOver = true;
      await Promise.all(checking);
      if (agent) agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function isOfConnecting(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'syscall' in error && error.syscall === 'connect';
}
