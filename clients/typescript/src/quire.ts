import { createAsk } from './ask.js';
import { createMethods, readAnswer, sendTo, type InputOf, type Parts } from './call.js';
import { createDocuments } from './documents.js';
import { createIngest } from './ingest.js';
import type { AnswerOf, BodyOf, Exact, Route } from './routes.js';
import type { CallOptions, Connection } from './send.js';

export type { Asked } from './ask.js';
export type { ListOptions } from './documents.js';
export type { FileSource, Progress } from './form.js';
export type { components, paths } from './openapi.js';
export { QuireError, type FieldError } from './quire-error.js';
export type { AnswerOf, BodyOf, Outcome, Route } from './routes.js';
export type { CallOptions } from './send.js';

export interface QuireOptions {
  /** The address of the service, such as `http://127.0.0.1:8000`. */
  readonly url: string | URL;
  /** A token, or a function that returns one, which is asked before each request. Dev mode needs none. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** How often a request is sent again where that is safe: 3. */
  readonly retries?: number | undefined;
  /** After how many milliseconds a call fails: 600,000. A stream has to begin within that time. */
  readonly timeout?: number | undefined;
}

type Question = Omit<BodyOf<'POST /query'>, 'stream'>;
type CacheQuestion = Omit<BodyOf<'POST /cache/{name}/query'>, 'stream'>;

/** A client of one service, as one caller. */
export class Quire {
  readonly #connection: Connection;
  readonly ingest;
  readonly search;
  readonly documents;
  readonly caches;
  readonly sharing;
  readonly usage;

  constructor({ url, token, fetch: own, retries = 3, timeout = 600_000 }: QuireOptions) {
    const { origin, pathname } = new URL(url);
    const connection: Connection = {
      url: origin + pathname.replace(/\/$/, ''),
      token: token ?? null,
      // A browser's `fetch` refuses to be called as a method of something else.
      fetch: own ?? ((input, init) => fetch(input, init)),
      retries,
      timeout,
    };
    this.#connection = connection;
    this.ingest = createIngest(connection);
    this.documents = createDocuments(connection);
    this.search = createMethods(connection, { chunks: 'POST /retrieve/chunks', docs: 'POST /retrieve/docs' });
    this.caches = createCaches(connection);
    this.sharing = createMethods(connection, {
      get: 'GET /sharing',
      block: 'PUT /sharing/blocked/{owner}',
      unblock: 'DELETE /sharing/blocked/{owner}',
      accept: 'PUT /sharing/accepted/{owner}',
      acceptNoMore: 'DELETE /sharing/accepted/{owner}',
      acceptDocument: 'POST /documents/{document_id}/accept',
      leaveDocument: 'POST /documents/{document_id}/leave',
    });
    this.usage = createMethods(connection, {
      stats: 'GET /usage/stats',
      recent: 'GET /usage/recent',
      quota: 'GET /usage/quota',
    });
  }

  /**
   * Asks a question. `for await` over it reads the answer while it is made, and ends with its sources; `answer()` returns it
   * whole. Each of them sends the question.
   */
  ask<Sent extends Question>(question: string | (Sent & Exact<Sent, Question>), options?: CallOptions) {
    return createAsk(this.#connection, 'POST /query', {})(bodyOf(question), options);
  }

  /** Calls any route of the service: `quire.request('GET /caches')`. */
  request<const Of extends Route>(route: Of, ...input: InputArguments<Of>): Promise<AnswerOf<Of>>;
  request(route: Route, input: CallOptions & Parts = {}): Promise<unknown> {
    const { path, query, body, ...options } = input;
    return sendTo(this.#connection, route, { path, query, body }, { ...options, read: readAnswer(route) });
  }
}

function createCaches(connection: Connection) {
  return {
    ...createMethods(connection, {
      create: 'POST /cache/create',
      get: 'GET /cache/{name}',
      list: 'GET /caches',
      update: 'POST /cache/{name}/update',
      addDocuments: 'POST /cache/{name}/add_docs',
      delete: 'DELETE /cache/{name}',
    }),
    /** Asks the documents of a cache. */
    ask: <Sent extends CacheQuestion>(
      name: string,
      question: string | (Sent & Exact<Sent, CacheQuestion>),
      options?: CallOptions,
    ) => createAsk(connection, 'POST /cache/{name}/query', { name })(bodyOf(question), options),
  };
}

type InputArguments<Of extends Route> =
  Partial<InputOf<Of>> extends InputOf<Of> ? [input?: InputOf<Of>] : [input: InputOf<Of>];

const bodyOf = (question: string | object) => (typeof question === 'string' ? { query: question } : question);
