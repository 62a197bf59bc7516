import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ModelDescription } from '../../../shared/local-models/description.js';
import type { ModelsAddress } from '../../../shared/local-models/processes/models-address.js';
import { postToModels } from '../ask-models.js';
import { inSeconds, perSecond, sanityLine, type Verdict } from './verdict.js';

const answerSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })),
  usage: z.object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    prompt_tokens_details: z.object({ cached_tokens: z.int() }),
  }),
});

const TEXT = 'The committee met on Tuesday to discuss the new railway bridge across the river. ';
const MAX_TOKENS = 48;
const SHOWN_CHARACTERS = 200;

/** Tries a chat model. A model may say anything; a sane one says something. */
export async function tryChat(address: ModelsAddress, model: ModelDescription): Promise<Verdict> {
  const ask = createAsk(address, model);
  // Loads the model, which is not to be measured.
  await ask('Hello', 1);
  // Never read before, so that nothing of it is reused: the id stands in front.
  const prompt = `${randomUUID()} ${TEXT.repeat(10)}\nWhat did the committee discuss?`;
  const read = await ask(prompt, 1);
  // The model reads nothing any more but the last token: the time is spent on writing.
  const written = await ask(prompt, MAX_TOKENS);
  const { prompt_tokens: all, prompt_tokens_details: reused } = read.usage;
  const { completion_tokens: count } = written.usage;
  const isSane = written.text.trim() !== '';
  return {
    isSane,
    lines: [
      `  read    ${perSecond(all - reused.cached_tokens, read.milliseconds)} tokens a second (${String(all)} in ${inSeconds(read.milliseconds)} s)`,
      `  write   ${perSecond(count, written.milliseconds)} tokens a second (${String(count)} in ${inSeconds(written.milliseconds)} s)`,
      `  says    ${JSON.stringify(written.text.trim().slice(0, SHOWN_CHARACTERS))}`,
      sanityLine(isSane, isSane ? 'it answers' : 'it says nothing'),
    ],
  };
}

function createAsk(address: ModelsAddress, { id, fingerprint }: ModelDescription) {
  return async (content: string, maxTokens: number) => {
    const begin = performance.now();
    const response = await postToModels(address, '/v1/chat/completions', {
      model: `${id}@${fingerprint}`,
      messages: [{ role: 'user', content }],
      max_tokens: maxTokens,
      temperature: 0,
    });
    const { choices, usage } = answerSchema.parse(await response.json());
    return { text: choices[0]?.message.content ?? '', usage, milliseconds: performance.now() - begin };
  };
}
