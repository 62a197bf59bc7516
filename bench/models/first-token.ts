import { z } from 'zod';
import type { ModelsProcess } from '../../test/support/models-process.js';
import type { ChatMessage } from '../../src/shared/models/prompt.js';

export interface StreamedAnswer {
  /** From the request to the first piece of text. */
  readonly firstMs: number;
  readonly totalMs: number;
  readonly promptTokens: number;
  readonly reusedTokens: number;
}

interface Question {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly maxTokens: number;
  /** The id of what the model has read before. */
  readonly state?: string;
}

const usageSchema = z.object({
  usage: z.object({
    prompt_tokens: z.number(),
    prompt_tokens_details: z.object({ cached_tokens: z.number() }),
  }),
});

/** Asks the process with local models itself, and measures when the answer begins and ends. */
export async function askModels(
  { url }: Pick<ModelsProcess, 'url'>,
  { model, messages, maxTokens, state }: Question,
): Promise<StreamedAnswer> {
  const body = {
    model,
    messages,
    max_tokens: maxTokens,
    stream: true,
    stream_options: { include_usage: true },
  };
  const begin = performance.now();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(state === undefined ? body : { ...body, state }),
  });
  if (!response.ok || !response.body)
    throw new Error(`local models answered ${String(response.status)}: ${await response.text()}`);
  let firstMs: number | null = null;
  let text = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    firstMs ??= performance.now() - begin;
    text += piece;
  }
  const totalMs = performance.now() - begin;
  if (firstMs === null) throw new Error('local models answered nothing');
  const { usage } = usageSchema.parse(lastData(text));
  const { prompt_tokens: promptTokens, prompt_tokens_details: details } = usage;
  return { firstMs, totalMs, promptTokens, reusedTokens: details.cached_tokens };
}

/** The last event of a stream before `[DONE]`. */
function lastData(text: string): unknown {
  const events = text.split('\n\n').filter((event) => event.startsWith('data: {'));
  return JSON.parse(events.at(-1)?.slice('data: '.length) ?? 'null');
}
