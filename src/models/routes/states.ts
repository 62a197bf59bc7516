import { z } from 'zod';
import { turnsSchema } from './chat-completions.js';
import { whileConnected, type Handler, type RouteParts } from './route.js';

const writeSchema = z.object({
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
    const { model, messages, from, group } = writeSchema.parse(request.body);
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
