import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { countTokens } from '../../src/shared/text/token-count.js';
import { sendError, sendJson, sendTooLong, type Exchange } from './fake-exchange.js';

const bodySchema = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })).min(1),
  stream: z.boolean().default(false),
  stream_options: z.object({ include_usage: z.boolean() }).optional(),
  max_tokens: z.int().positive().optional(),
  max_completion_tokens: z.int().positive().optional(),
});
type Body = z.infer<typeof bodySchema>;

const MAX_ECHO = 64;

/** Answers a chat, a word a token, whole or as a stream that may go wrong on the way. */
export async function answerChat(exchange: Exchange): Promise<void> {
  const { request, response, configuration, stats } = exchange;
  stats.chatRequests += 1;
  const parsed = bodySchema.safeParse(request.body);
  if (!parsed.success) {
    sendError(response, { status: 400, message: z.prettifyError(parsed.error), param: 'messages' });
    return;
  }
  const { messages, max_tokens: few = 0, max_completion_tokens: most = few } = parsed.data;
  const asked = messages.reduce((sum, { content }) => sum + 4 + countTokens(content), most);
  if (asked > configuration.chatWindow) {
    stats.failed += 1;
    sendTooLong(response, configuration, configuration.chatWindow);
    return;
  }
  const answer = composeAnswer(parsed.data, exchange);
  if (parsed.data.stream) {
    await streamAnswer(answer, exchange, parsed.data.stream_options?.include_usage === true);
    return;
  }
  const message = { role: 'assistant', content: answer.words.join('') };
  const usage = configuration.sendsUsage ? { usage: answer.usage } : {};
  sendJson(response, 200, { choices: [{ index: 0, message, finish_reason: answer.finishReason }], ...usage });
}

interface Answer {
  readonly words: readonly string[];
  readonly finishReason: string;
  readonly usage: unknown;
}

function composeAnswer(body: Body, { configuration }: Exchange): Answer {
  const { answer, finishReason, cachedTokens } = configuration;
  const said = body.messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const text = answer ?? `Answer: ${said.split(/\s+/).slice(0, MAX_ECHO).join(' ')}`;
  const words = text.match(/\s*\S+/g) ?? [];
  const most = body.max_completion_tokens ?? body.max_tokens ?? words.length;
  const prompt = body.messages.reduce((sum, { content }) => sum + 4 + countTokens(content), 3);
  const given = words.slice(0, most);
  return {
    words: given,
    finishReason: words.length > most ? 'length' : finishReason,
    usage: {
      prompt_tokens: prompt,
      completion_tokens: given.length,
      total_tokens: prompt + given.length,
      ...(cachedTokens === null ? {} : { prompt_tokens_details: { cached_tokens: cachedTokens } }),
    },
  };
}

async function streamAnswer(answer: Answer, exchange: Exchange, includesUsage: boolean): Promise<void> {
  const { response, configuration, signal } = exchange;
  const { stream, wordsBefore, wordDelayMilliseconds, sendsUsage } = configuration;
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const send = (event: unknown) => response.write(`data: ${JSON.stringify(event)}\n\n`);
  const sendChoice = (delta: unknown, finishReason: string | null = null) =>
    send({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finishReason }] });

  if (stream === 'refused') {
    const message = 'the request exceeds the available context size, try increasing it';
    send({ error: { code: 400, message, type: 'exceed_context_size_error' } });
    response.end();
    return;
  }
  sendChoice({ role: 'assistant', content: '' });
  for (const word of stream === 'whole' ? answer.words : answer.words.slice(0, wordsBefore)) {
    if (wordDelayMilliseconds > 0) await sleep(wordDelayMilliseconds, undefined, { signal });
    sendChoice({ content: word });
  }
  if (stream === 'stalled') return;
  if (stream === 'dropped') {
    // After what was written has left, or the client never sees it.
    await sleep(20);
    response.destroy();
    return;
  }
  if (stream === 'failed') send({ error: { message: 'The server is overloaded', type: 'server_error' } });
  if (stream === 'not_json') response.write('data: {"choices": [\n\n');
  if (stream === 'whole') {
    sendChoice({}, answer.finishReason);
    if (includesUsage && sendsUsage) send({ choices: [], usage: answer.usage });
  }
  response.end('data: [DONE]\n\n');
}
