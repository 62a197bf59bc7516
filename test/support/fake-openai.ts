import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { answerChat } from './fake-completions.js';
import { answerEmbeddings } from './fake-embeddings.js';
import {
  configurationSchema,
  noStats,
  sendError,
  sendJson,
  type Exchange,
  type FakeOpenAIOptions,
  type FakeOpenAIStats,
  type FakeRequest,
} from './fake-exchange.js';

export interface FakeOpenAI {
  /** To be given as base URL, ends in `/v1`. */
  readonly url: string;
  readonly stats: Readonly<FakeOpenAIStats>;
  /** The newest requests, oldest first. */
  readonly requests: readonly FakeRequest[];
  configure(options: FakeOpenAIOptions): void;
  /** Back to the options of the start, counters at zero. */
  reset(): void;
  stop(): Promise<void>;
}

const MAX_KEPT = 500;

/**
 * A deterministic server of OpenAI's protocol that can be made to fail in the ways providers do.
 * Other processes steer it over HTTP: `GET /stats`, `POST /configure`, `POST /reset`.
 */
export async function startFakeOpenAI(options: FakeOpenAIOptions = {}): Promise<FakeOpenAI> {
  const start = () => structuredClone(configurationSchema.parse(options));
  let configuration = start();
  const stats = noStats();
  const requests: FakeRequest[] = [];
  const configure = (changes: unknown) => {
    configuration = configurationSchema.parse({
      ...configuration,
      ...z.record(z.string(), z.unknown()).parse(changes),
    });
  };
  const reset = () => {
    configuration = start();
    Object.assign(stats, { ...noStats(), inFlight: stats.inFlight });
    requests.length = 0;
  };

  const control = async (incoming: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const route = `${incoming.method ?? ''} ${incoming.url ?? ''}`;
    if (route === 'POST /configure') configure(await readJson(incoming));
    else if (route === 'POST /reset') reset();
    else if (route !== 'GET /stats') return false;
    sendJson(response, 200, stats);
    return true;
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (await control(incoming, response)) return;
    const gone = new AbortController();
    stats.requests += 1;
    stats.inFlight += 1;
    stats.mostInFlight = Math.max(stats.mostInFlight, stats.inFlight);
    response.on('close', () => {
      stats.inFlight -= 1;
      if (response.writableFinished) return;
      stats.aborted += 1;
      gone.abort();
    });
    const request = {
      path: incoming.url ?? '',
      authorization: incoming.headers.authorization,
      azureKey: incoming.headers['api-key']?.toString(),
      traceparent: incoming.headers['traceparent']?.toString(),
      body: z.record(z.string(), z.unknown()).parse(await readJson(incoming)),
    };
    requests.push(request);
    if (requests.length > MAX_KEPT) requests.shift();
    await answer({ request, response, configuration, stats, signal: gone.signal });
  };

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else if (!response.destroyed) sendError(response, { status: 500, message: String(error) });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${String(address.port)}/v1`,
    stats,
    requests,
    configure,
    reset,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(exchange: Exchange): Promise<void> {
  const { request, response, configuration, stats, signal } = exchange;
  const { apiKey, azureKey, latencyMilliseconds, maxInFlight, retryAfterSeconds, refusedParameters } =
    configuration;
  const failure = configuration.failures.shift();
  if (latencyMilliseconds > 0) await sleep(latencyMilliseconds, undefined, { signal });
  if (apiKey !== null && request.authorization !== `Bearer ${apiKey}`) {
    const message = `Incorrect API key provided: ${request.authorization ?? ''}.`;
    sendError(response, { status: 401, message, code: 'invalid_api_key' });
  } else if (azureKey !== null && request.azureKey !== azureKey) {
    sendError(response, {
      status: 401,
      message: 'Access denied due to invalid subscription key',
      code: '401',
    });
  } else if (failure) {
    stats.failed += 1;
    if (failure.status === 429) stats.rateLimited += 1;
    if (failure.kind === 'answer') sendError(response, failure);
    if (failure.kind === 'disconnect') response.destroy();
  } else if (maxInFlight > 0 && stats.inFlight > maxInFlight) {
    stats.rateLimited += 1;
    const headers = { 'retry-after': String(retryAfterSeconds) };
    sendError(response, { status: 429, message: 'Rate limit reached', code: 'rate_limit_exceeded', headers });
  } else {
    const refused = refusedParameters.find((name) => name in request.body);
    if (refused !== undefined) {
      const message = `Unsupported parameter: '${refused}' is not supported with this model.`;
      sendError(response, { status: 400, message, code: 'unsupported_parameter', param: refused });
    } else if (serves(request.path, 'embeddings')) answerEmbeddings(exchange);
    else if (serves(request.path, 'chat/completions')) await answerChat(exchange);
    else sendError(response, { status: 404, message: `Invalid URL (${request.path})` });
  }
}

/** At OpenAI's address, and at that of a deployment in Azure. */
function serves(path: string, what: string): boolean {
  const [place = ''] = path.split('?');
  return place === `/v1/${what}` || /^\/openai\/deployments\/[\w-]+\/(.*)$/.exec(place)?.[1] === what;
}

async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(z.instanceof(Buffer).parse(part));
  const body = Buffer.concat(parts).toString();
  return body === '' ? {} : JSON.parse(body);
}
