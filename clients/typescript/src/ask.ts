import type { components } from './openapi.js';
import { sendTo, readAnswer } from './call.js';
import { QuireError } from './quire-error.js';
import { readEvents } from './read-events.js';
import type { AnswerOf, Route } from './routes.js';
import type { CallOptions, Connection } from './send.js';

type Schemas = components['schemas'];
type StreamError = Schemas['StreamError'];

/** The routes that answer questions, with the parts of their answers. */
interface Parts {
  readonly 'POST /query': Schemas['CompletionEvent'];
  readonly 'POST /cache/{name}/query': Schemas['CacheAnswerEvent'];
}

/** A question. Each time that it is iterated, or its answer is asked for, it is sent. */
export interface Asked<Part, Whole> extends AsyncIterable<Part> {
  /** The whole answer at once. */
  readonly answer: () => Promise<Whole>;
}

/**
 * A question that may be answered piece by piece: the pieces of its text, and last how it ended, with its sources.
 * @throws QuireError where the answer breaks off, or the service says that it cannot go on
 */
export function createAsk<Of extends keyof Parts & Route>(connection: Connection, route: Of, path: object) {
  return (body: object, options: CallOptions = {}): Asked<Parts[Of], AnswerOf<Of>> => {
    const sendWith = <Result>(stream: boolean, read: (response: Response) => Promise<Result>) =>
      sendTo(connection, route, { path, body: { ...body, stream } }, { ...options, read });
    return {
      answer: () => sendWith(false, readAnswer(route)),
      async *[Symbol.asyncIterator]() {
        const response = await sendWith(true, (got) => Promise.resolve(got));
        yield* readParts<Parts[Of]>(response, options.signal);
      },
    };
  };
}

async function* readParts<Part extends { readonly type: string }>(
  { body, headers }: Response,
  signal: AbortSignal | undefined,
): AsyncGenerator<Part> {
  try {
    for await (const { name, data } of body === null ? [] : readEvents(body)) {
      const part: unknown = JSON.parse(data);
      // @NOTE these are the events that the route is typed to send.
      if (name === 'error') throw new QuireError({ ...(part as StreamError), headers });
      yield part as Part;
      if ((part as Part).type === 'end') return;
    }
  } catch (cause) {
    if (signal?.aborted === true) throw signal.reason;
    if (cause instanceof QuireError) throw cause;
    throw new QuireError({ status: null, detail: BROKEN_OFF, headers, cause });
  }
  throw new QuireError({ status: null, detail: BROKEN_OFF, headers });
}

const BROKEN_OFF = 'The answer broke off before its end';
