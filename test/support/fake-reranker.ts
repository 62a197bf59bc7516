import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { wrongResults, type RerankerFault, type RerankResult } from './reranker-faults.js';

export interface FakeRerankerOptions {
  /** Null: no key is asked for. */
  readonly apiKey?: string | null;
  /** `texts`: the protocol of text-embeddings-inference. */
  readonly protocol?: 'documents' | 'texts';
  readonly fault?: RerankerFault | null;
  /** Answers with this status instead. */
  readonly status?: number | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly latencyMilliseconds?: number;
  /** Requests with more documents are answered 422. */
  readonly maxDocuments?: number;
  /** Tokens for each document; null: the reply says nothing of tokens. */
  readonly tokens?: number | null;
  /** The place of tokens in the reply. */
  readonly tokensIn?: 'usage' | 'meta';
  readonly scoreOf?: (document: string, query: string) => number;
  /** Called when a request has come, before it is answered. */
  readonly onRequest?: (documents: readonly string[]) => Promise<void> | void;
}

export interface RerankerRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly query: string;
  readonly documents: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}

export interface FakeReranker {
  /** To be given as base URL. */
  readonly url: string;
  readonly requests: readonly RerankerRequest[];
  /** Requests that are under way, and the most that ever were at once. */
  readonly inFlight: () => number;
  readonly mostInFlight: () => number;
  /** Requests whose client went away before the answer was whole. */
  readonly aborted: () => number;
  /** The number of requests to the target of redirects. */
  readonly followed: () => number;
  configure(options: FakeRerankerOptions): void;
  /** Back to the options of the start, without requests. */
  reset(): void;
  stop(): Promise<void>;
}

const DEFAULTS = {
  apiKey: null,
  protocol: 'documents',
  fault: null,
  status: null,
  headers: {},
  latencyMilliseconds: 0,
  maxDocuments: 1_000,
  tokens: null,
  tokensIn: 'usage',
  scoreOf: (document: string) => relevanceIn(document),
  onRequest: () => undefined,
} satisfies Required<FakeRerankerOptions>;
type Configuration = Required<FakeRerankerOptions>;

/** Documents of tests say how relevant they are: `relevance 0.7`. */
export function relevanceIn(document: string): number {
  return Number(/relevance (-?\d+(?:\.\d+)?)/.exec(document)?.[1] ?? 0.05);
}

const bodySchema = z.looseObject({
  query: z.string(),
  documents: z.array(z.string()).optional(),
  texts: z.array(z.string()).optional(),
});

/** A server of the common protocol of rerankers that can be made to answer in all the ways that it should not. */
export async function startFakeReranker(options: FakeRerankerOptions = {}): Promise<FakeReranker> {
  const start: Configuration = { ...DEFAULTS, ...options };
  let configuration = start;
  const requests: RerankerRequest[] = [];
  const counts = { inFlight: 0, mostInFlight: 0, aborted: 0, followed: 0 };

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    counts.inFlight += 1;
    counts.mostInFlight = Math.max(counts.mostInFlight, counts.inFlight);
    response.on('close', () => {
      counts.inFlight -= 1;
      if (!response.writableFinished) counts.aborted += 1;
    });
    const body = bodySchema.parse(await readJson(incoming));
    const path = incoming.url ?? '';
    if (path === '/elsewhere') counts.followed += 1;
    const { authorization } = incoming.headers;
    const documents = body.documents ?? body.texts ?? [];
    requests.push({ path, authorization, query: body.query, documents, body });
    await configuration.onRequest(documents);
    await answer({ configuration, body, documents, path, authorization, response });
  };
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((error: unknown) => {
      if (!response.headersSent && !response.destroyed) sendJson(response, 500, { message: String(error) });
      else response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${String(address.port)}`,
    requests,
    inFlight: () => counts.inFlight,
    mostInFlight: () => counts.mostInFlight,
    aborted: () => counts.aborted,
    followed: () => counts.followed,
    configure: (changes) => {
      configuration = { ...configuration, ...changes };
    },
    reset: () => {
      configuration = start;
      requests.length = 0;
      Object.assign(counts, { mostInFlight: counts.inFlight, aborted: 0, followed: 0 });
    },
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

interface Exchange {
  readonly configuration: Configuration;
  readonly body: z.infer<typeof bodySchema>;
  readonly documents: readonly string[];
  readonly path: string;
  readonly authorization: string | undefined;
  readonly response: ServerResponse;
}

async function answer(exchange: Exchange): Promise<void> {
  const { configuration, body, documents, path, authorization, response } = exchange;
  const { apiKey, status, headers, fault, latencyMilliseconds, protocol, maxDocuments } = configuration;
  if (latencyMilliseconds > 0) await sleep(latencyMilliseconds);
  const expected = protocol === 'documents' ? body.documents : body.texts;
  if (!path.endsWith('/rerank') && path !== '/elsewhere')
    sendJson(response, 404, { message: 'no such path' });
  else if (apiKey !== null && authorization !== `Bearer ${apiKey}`)
    sendJson(response, 401, { message: `invalid key ${authorization ?? ''}` });
  else if (status !== null) sendJson(response, status, { message: documents.join(' ') }, headers);
  else if (!expected) sendJson(response, 422, { message: `missing field ${protocol}` });
  else if (documents.length > maxDocuments) sendJson(response, 422, { message: 'too many documents' });
  else if (fault !== null) sendFault(exchange, fault);
  else sendJson(response, 200, rightReply(exchange));
}

/** Best first, as providers send them. */
function resultsOf({ configuration, body, documents }: Exchange): RerankResult[] {
  return documents
    .map((document, index) => ({ index, score: configuration.scoreOf(document, body.query) }))
    .sort((a, b) => b.score - a.score);
}

function replyOf({ configuration, documents }: Exchange, results: readonly RerankResult[]): unknown {
  const { protocol, tokens, tokensIn } = configuration;
  if (protocol === 'texts') return results;
  const named = results.map(({ index, score }) => ({ index, relevance_score: score }));
  if (tokens === null) return { id: 'fake', results: named };
  const total = tokens * documents.length;
  return tokensIn === 'usage'
    ? { results: named, usage: { total_tokens: total } }
    : { results: named, meta: { billed_units: { search_units: 1 }, tokens: { input_tokens: total } } };
}

const rightReply = (exchange: Exchange): unknown => replyOf(exchange, resultsOf(exchange));

function sendFault(exchange: Exchange, fault: RerankerFault): void {
  const { response } = exchange;
  const changed = wrongResults(resultsOf(exchange), fault);
  if (changed) {
    const text = JSON.stringify(replyOf(exchange, changed));
    // JSON has no infinite numbers, but numbers that are read as such.
    sendText(response, fault === 'infinite' ? text.replace('"infinite"', '1e999') : text);
    return;
  }
  switch (fault) {
    case 'no_results':
      sendJson(response, 200, { object: 'list' });
      return;
    case 'not_json':
      sendText(response, '<html>Bad gateway</html>');
      return;
    case 'empty':
      sendText(response, '');
      return;
    case 'huge':
      sendEndlessly(response, Buffer.alloc(64 * 1024, ' '), 0);
      return;
    case 'slow_drip':
      sendEndlessly(response, Buffer.from(' '), 20);
      return;
    case 'disconnect':
      response.destroy();
      return;
    case 'redirect':
      response.writeHead(307, { location: '/elsewhere' });
      response.end();
      return;
    default:
      // Silence.
      return;
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function sendText(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(text);
}

/** Sends the same bytes again and again until the client leaves. */
function sendEndlessly(response: ServerResponse, piece: Buffer, pauseMilliseconds: number): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const write = () => {
    if (response.destroyed) return;
    const goOn = response.write(piece);
    if (goOn) setTimeout(write, pauseMilliseconds);
    else response.once('drain', write);
  };
  write();
}

async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(z.instanceof(Buffer).parse(part));
  return JSON.parse(Buffer.concat(parts).toString() || '{}');
}
