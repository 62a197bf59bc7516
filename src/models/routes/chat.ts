import { randomUUID } from 'node:crypto';
import type { Response } from 'express';
import { z } from 'zod';
import type { ChatEnd, ChatRequest } from '../engine/chat/chat-model.js';
import { whileConnected, type Handler, type RouteParts } from './route.js';

const partSchema = z.object({ type: z.literal('text'), text: z.string() });
const contentSchema = z.union([
  z.string(),
  z.array(partSchema).transform((parts) => parts.map(({ text }) => text).join('')),
]);

/** Messages of a conversation. Text only: local models see no pictures, and have no tools. */
const turnsSchema = z
  .array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: contentSchema }))
  .min(1)
  .max(1_000);

const stop = z.string().min(1).max(256);
const completionSchema = z.object({
  model: z.string(),
  messages: turnsSchema,
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  seed: z.int().min(0).max(0xffff_ffff).nullish(),
  stop: z.union([stop.transform((one) => [one]), z.array(stop).max(4)]).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.literal(1).nullish(),
  /** The caller for whom it is answered: the caller who has used the model least goes first. */
  user: z.string().max(1_024).nullish(),
  /** The name of a saved state (`PUT /v1/states/{state}`) that holds the beginning of the conversation. */
  state: z.string().nullish(),
});
type Body = z.infer<typeof completionSchema>;

/** `POST /v1/chat/completions` in the shape of OpenAI's API. */
export const chatCompletions =
  ({ models, metrics }: RouteParts): Handler =>
  async (request, response) => {
    const body = completionSchema.parse(request.body);
    const signal = whileConnected(response);
    const reply =
      body.stream === true ? createStreamedReply(response, body) : createWholeReply(response, body);
    const end = await metrics.during('chat', () =>
      models.use(body.model, 'chat', (use) =>
        use.complete(requestOf(body), {
          by: body.user ?? undefined,
          isUrgent: true,
          signal,
          onText: reply.text,
        }),
      ),
    );
    metrics.addTokens('chat', 'read', end.promptTokens - end.reusedTokens);
    metrics.addTokens('chat', 'reused', end.reusedTokens);
    metrics.addTokens('chat', 'written', end.completionTokens);
    reply.end(end);
  };

function requestOf(body: Body): ChatRequest {
  return {
    turns: body.messages,
    maxTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    seed: body.seed ?? undefined,
    stop: body.stop ?? undefined,
    state: body.state ?? undefined,
  };
}

interface Reply {
  readonly text: (text: string) => void;
  readonly end: (end: ChatEnd) => void;
}

const usageOf = ({ promptTokens, completionTokens, reusedTokens }: ChatEnd) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
  prompt_tokens_details: { cached_tokens: reusedTokens },
});

function headOf(object: string, { model }: Body) {
  return { id: `chatcmpl-${randomUUID()}`, object, created: Math.floor(Date.now() / 1_000), model };
}

function createWholeReply(response: Response, body: Body): Reply {
  let content = '';
  return {
    text: (text) => {
      content += text;
    },
    end: (end) => {
      const message = { role: 'assistant', content };
      response.json({
        ...headOf('chat.completion', body),
        choices: [{ index: 0, message, finish_reason: end.finishReason }],
        usage: usageOf(end),
      });
    },
  };
}

/**
 * Sends each piece as it is written. An answer is at most a window long, so that the unread part of a slow client is
 * bounded.
 */
function createStreamedReply(response: Response, body: Body): Reply {
  const head = headOf('chat.completion.chunk', body);
  const send = (data: object) => {
    if (!response.headersSent)
      response.set({ 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store' });
    response.write(`data: ${JSON.stringify({ ...head, ...data })}\n\n`);
  };
  const choice = (delta: object, finish_reason: string | null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  return {
    text: (text) => send(choice({ role: 'assistant', content: text }, null)),
    end: (end) => {
      send(choice({}, end.finishReason));
      if (body.stream_options?.include_usage === true) send({ choices: [], usage: usageOf(end) });
      response.end('data: [DONE]\n\n');
    },
  };
}

const stateSchema = z.object({
  model: z.string(),
  messages: turnsSchema,
  /** Another state that holds a beginning of the same conversation. */
  from: z.string().nullish(),
  /** The group of the state. Where there is no room, the least recently used state of the group with the most bytes goes. */
  group: z.string().max(1_024).default(''),
});

/** The interval at which waiting clients hear that they are not forgotten. */
const WAITING_MILLISECONDS = 20_000;

/**
 * `PUT /v1/states/{state}`: reads the beginning of a conversation and saves the model's state after it. Answers lines of
 * JSON: `{read, of}` now and then, and at the end `{tokens, tokens_reused, bytes}`. An answer without that line has failed.
 */
export const writeState =
  ({ models, metrics }: RouteParts): Handler =>
  async (request, response) => {
    const { model, messages, from, group } = stateSchema.parse(request.body);
    const id = String(request.params['state']);
    const signal = whileConnected(response);
    const send = (line: object) => {
      if (!response.headersSent) response.type('application/x-ndjson');
      response.write(`${JSON.stringify(line)}\n`);
    };
    const waiting = setInterval(() => send({ read: 0, of: 1 }), WAITING_MILLISECONDS);
    const prepared = await metrics
      .during('chat', () =>
        models.use(model, 'chat', (use) =>
          use.prepare(
            { turns: messages, id, group, from: from ?? undefined },
            { by: group, isUrgent: false, signal, onProgress: (read, of) => send({ read, of }) },
          ),
        ),
      )
      .finally(() => clearInterval(waiting));
    const { tokens, reusedTokens, bytes } = prepared;
    metrics.addTokens('chat', 'read', tokens - reusedTokens);
    metrics.addTokens('chat', 'reused', reusedTokens);
    send({ tokens, tokens_reused: reusedTokens, bytes });
    response.end();
  };

export const removeState =
  ({ states }: RouteParts): Handler =>
  async (request, response) => {
    await states.remove(String(request.params['state']));
    response.status(204).end();
  };

export const listStates =
  ({ states }: RouteParts): Handler =>
  async (_request, response) => {
    const data = (await states.list()).map(({ id, tokens, bytes, usedAt }) => ({
      id,
      object: 'state',
      tokens,
      bytes,
      used_at: new Date(usedAt).toISOString(),
    }));
    response.json({ object: 'list', data });
  };
