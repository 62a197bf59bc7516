import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import jsonwebtoken from 'jsonwebtoken';
import { pino } from 'pino';
import { createApp, type AppOptions } from '../../src/api/app.js';
import { createAuthentication } from '../../src/api/auth/authentication.js';
import { createBodyBudget } from '../../src/api/http/request/body-budget.js';
import type { Route } from '../../src/api/http/route.js';
import { createMessages, createApiServer } from '../../src/api/http/connections/server.js';
import { createAnswerMemory } from '../../src/api/services/answer-memory/answer-memory.js';
import { createCheckResponse, type CheckResponse } from './check-response.js';
import { TEST_SECRET } from './client.js';

export const SECRET = TEST_SECRET;

interface Claims {
  readonly entity_id?: unknown;
  readonly sub?: unknown;
  readonly type?: unknown;
  readonly permissions?: unknown;
  readonly exp?: unknown;
}

/** A token as the service makes them; any claim can be set otherwise, or left out with `undefined`. */
export function makeToken(
  claims: Claims = {},
  { secret = SECRET, algorithm = 'HS256' as const } = {},
): string {
  const usual = { entity_id: 'alice', type: 'developer', permissions: ['read', 'write'], exp: inSeconds(60) };
  const all = Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== undefined);
  return jsonwebtoken.sign(JSON.stringify(Object.fromEntries(all)), secret, { algorithm });
}

export const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

export interface ApiClient {
  readonly url: string;
  readonly port: number;
  /** Asks and holds the answer against what its route declares. */
  request(path: string, init?: RequestInit & { token?: string }): Promise<ApiAnswer>;
  close(): Promise<void>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON. */
  readonly body: unknown;
}

/** Asks an API at `url`; every answer is checked. */
function createApiClient(url: string, check: CheckResponse): Pick<ApiClient, 'request'> {
  return {
    request: async (path, { token, ...init } = {}) => {
      const headers = new Headers(init.headers);
      if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
      const response = await fetch(`${url}${path}`, { redirect: 'manual', ...init, headers });
      const text = await response.text();
      const method = init.method ?? 'GET';
      check({ method, path, status: response.status, headers: response.headers, text });
      return {
        status: response.status,
        headers: response.headers,
        text,
        get body(): unknown {
          return JSON.parse(text) as unknown;
        },
      };
    },
  };
}

interface TestApiOptions extends Partial<AppOptions> {
  readonly routes: readonly Route[];
  readonly requestTimeoutSeconds?: number;
  readonly stalledMilliseconds?: number;
  readonly maxUnsentBytes?: number;
  readonly giveWayMilliseconds?: number;
  readonly onCutOff?: () => void;
  /** Gets every log line. */
  readonly onLog?: (line: Record<string, unknown>) => void;
}

/** The app over real HTTP on a port of its own. */
export async function startApi({
  requestTimeoutSeconds = 30,
  stalledMilliseconds = 30_000,
  maxUnsentBytes = 256 * 1024 ** 2,
  onCutOff = () => undefined,
  giveWayMilliseconds = 10_000,
  answerMemory = createAnswerMemory({ limitBytes: maxUnsentBytes }),
  onLog,
  ...options
}: TestApiOptions): Promise<ApiClient> {
  const devMode = options.devMode ?? false;
  const destination = { write: (line: string) => onLog?.(JSON.parse(line) as Record<string, unknown>) };
  const messages = createMessages();
  const app = createApp({
    messages,
    authenticate: createAuthentication({ secrets: [SECRET], devMode }),
    logger: pino({ level: onLog ? 'debug' : 'silent' }, destination),
    devMode,
    allowRemoteDevMode: false,
    hostNames: [],
    corsOrigins: [],
    trustProxy: 0,
    publicUrl: '',
    maxJsonBytes: 8_388_608,
    unknownFields: 'ignore',
    bodyGraceSeconds: 20,
    bodies: createBodyBudget({ maxBytes: 134_217_728, shareBytes: 33_554_432 }),
    answerMemory,
    ...options,
  });
  const sending = {
    stalledMilliseconds,
    maxUnsentBytes,
    onCutOff,
    giveWayMilliseconds,
    answerMemory,
  };
  const server = createApiServer(app, { requestTimeoutSeconds, messages, ...sending });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}`;
  return {
    ...createApiClient(url, createCheckResponse(options.routes)),
    url,
    port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** `init` of a request with a JSON body. */
export function jsonBody(body: unknown, method = 'POST'): RequestInit {
  return { method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
}
