import { BadReplyError } from './bad-reply-error.js';

/** A whole answer that is longer is an error. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Gives answers of a server that does not stream, although a stream was asked for, the form of a stream of one event. Some
 * gateways answer so, and the client of OpenAI would read no event in them.
 */
export function withWholeAnswers(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    const { body, status, statusText } = response;
    if (!body || status >= 400 || !isJson(response)) return response;
    const answer = await readWhole(body);
    const headers = { 'content-type': 'text/event-stream' };
    return new Response(`data: ${answer}\n\ndata: [DONE]\n\n`, { status, statusText, headers });
  };
}

function isJson({ headers }: Response): boolean {
  return /^application\/json\b/i.test(headers.get('content-type') ?? '');
}

/** The answer in one line. White space between its parts may have line ends, which a text in it never has. */
async function readWhole(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let answer = '';
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MAX_ANSWER_BYTES) throw new BadReplyError('is too long');
    answer += decoder.decode(piece, { stream: true });
  }
  return (answer + decoder.decode()).replace(/[\r\n]+/g, ' ');
}
