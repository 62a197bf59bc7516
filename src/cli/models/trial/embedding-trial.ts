import { z } from 'zod';
import { prefixesOf } from '../../../shared/local-models/families.js';
import type { ModelDescription } from '../../../shared/local-models/description.js';
import type { ModelsAddress } from '../../../shared/local-models/processes/models-address.js';
import { postToModels } from '../ask-models.js';
import { dot, perSecond, sanityLine, type Verdict } from './verdict.js';

const answerSchema = z.object({
  data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()) })),
  usage: z.object({ prompt_tokens: z.int() }),
});

/** Each question has its answer at the same place; no words but the smallest are in both. */
const QUESTIONS = ['How do plants make their food?', 'What should I do when my bicycle has a flat tyre?'];
const ANSWERS = [
  'Leaves turn sunlight, water and carbon dioxide into sugar by photosynthesis.',
  'Take off the wheel, find the hole in the inner tube and patch it.',
];
/** As long as a small chunk of a document: some hundred tokens. */
const SENTENCE = 'The committee met on Tuesday to discuss the new railway bridge across the river. ';
const CHUNK = SENTENCE.repeat(7);
const MAX_TEXTS = 64;
const ENOUGH_MS = 3_000;

export async function tryEmbedding(address: ModelsAddress, model: ModelDescription): Promise<Verdict> {
  const embed = createEmbed(address, model);
  const prefixes = prefixesOf(`${model.name} ${model.id}`);
  const { vectors } = await embed([
    ...QUESTIONS.map((text) => prefixes.query + text),
    ...ANSWERS.map((text) => prefixes.document + text),
  ]);
  const alike = QUESTIONS.map((_, one) => dot(vectors[one], vectors[QUESTIONS.length + one]));
  const unlike = QUESTIONS.map((_, one) => dot(vectors[one], vectors[2 * QUESTIONS.length - 1 - one]));
  const isSane = alike.every((each, one) => each > (unlike[one] ?? each));
  const speed = await measure(embed);
  const width = String(vectors[0]?.length ?? 0);
  return {
    isSane,
    lines: [
      `  vectors ${width} dimensions`,
      `  speed   ${perSecond(speed.texts, speed.milliseconds)} texts a second of ${String(Math.round(speed.tokens / speed.texts))} tokens, ${perSecond(speed.tokens, speed.milliseconds)} tokens a second`,
      sanityLine(
        isSane,
        `questions are ${shown(alike)} like their answers, ${shown(unlike)} like those of the other`,
      ),
    ],
  };
}

type Embed = (texts: readonly string[]) => Promise<{ vectors: number[][]; tokens: number }>;

function createEmbed(address: ModelsAddress, { id, fingerprint }: ModelDescription): Embed {
  return async (input) => {
    const body = { model: `${id}@${fingerprint}`, input };
    const response = await postToModels(address, '/v1/embeddings', body);
    const { data, usage } = answerSchema.parse(await response.json());
    return { vectors: data.map(({ embedding }) => embedding), tokens: usage.prompt_tokens };
  };
}

/** Embeds more and more texts at once, until it takes long enough to be measured. */
async function measure(embed: Embed) {
  for (let texts = 4; ; texts *= 4) {
    const begin = performance.now();
    const { tokens } = await embed(Array.from({ length: texts }, (_, one) => `${String(one)}. ${CHUNK}`));
    const milliseconds = performance.now() - begin;
    if (texts >= MAX_TEXTS || milliseconds > ENOUGH_MS) return { texts, tokens, milliseconds };
  }
}

const shown = (similarities: readonly number[]) => similarities.map((each) => each.toFixed(2)).join(' and ');
