import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** It answers questions with this word a word at a time. */
export const SLOWLY = 'slowlyslowly';

const WORD_MS = 500;
const WORDS = 40;
/** The question follows it. Its words may be anybody's, and are nothing that its caller was shown. */
const QUESTION = '\nQuestion: ';

const chat = z.object({
  messages: z.array(z.object({ content: z.string() })).min(1),
  stream: z.boolean().default(false),
});

/** A provider of completions. */
export interface SlowCompleter {
  /** The settings of a service that uses it. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Starts a provider that answers with the last words of the passages, slowly where these or the question ask for it. */
export async function startSlowCompleter(): Promise<SlowCompleter> {
  const server = createServer((request, response) => {
    // The caller who asked may be killed at any time.
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    env: {
      QUIRE_COMPLETER: 'openai',
      QUIRE_COMPLETION_BASE_URL: `http://127.0.0.1:${String(address.port)}/v1`,
      QUIRE_COMPLETION_TIMEOUT_SECONDS: '30',
      OPENAI_API_KEY: 'none',
      QUIRE_API_PROBE_MODELS: 'false',
    },
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(z.instanceof(Buffer).parse(part));
  const { messages, stream } = chat.parse(JSON.parse(Buffer.concat(parts).toString()));
  const said = messages.at(-1)?.content ?? '';
  const passages = said.slice(0, Math.max(0, said.lastIndexOf(QUESTION)));
  const words = (passages.match(/\s*\S+/g) ?? []).slice(-WORDS);
  const pause = said.includes(SLOWLY) ? WORD_MS : 0;
  const usage = {
    prompt_tokens: said.length,
    completion_tokens: words.length,
    total_tokens: said.length + words.length,
  };
  if (!stream) {
    await sleep(pause * words.length);
    const message = { role: 'assistant', content: words.join('') };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta: unknown, finish_reason: string | null = null) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  for (const content of words) {
    if (pause > 0) await sleep(pause);
    if (response.destroyed) return;
    send({ content });
  }
  send({}, 'stop');
  response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
}
