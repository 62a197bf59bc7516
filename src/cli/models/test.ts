import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { at } from '../../shared/at.js';
import type { ModelDescription } from '../../shared/local-models/description.js';
import { prefixesOf } from '../../shared/local-models/families.js';
import { createFingerprints } from '../../shared/local-models/fingerprints.js';
import { NoEngineError } from '../../shared/local-models/import-engine.js';
import {
  findModelFile,
  isModelName,
  MODEL_NAME_RULE,
  modelsDirectoryOf,
} from '../../shared/local-models/model-files.js';
import { DamagedModelError, readModelHeader } from '../../shared/local-models/model-header.js';
import { modelsAddressesOf, type ModelsAddress } from '../../shared/local-models/processes/models-address.js';
import { loadSettings, type Environment, type Settings } from '../../shared/settings/load.js';
import { UserError } from '../user-messages.js';
import { findDescription, postToModels } from './ask-models.js';
import { inMegabytes } from './megabytes.js';
import { withModelsProcess } from './with-models-process.js';

const DESCRIPTION_PATIENCE_MS = 600_000;

export interface TestResult {
  readonly isSane: boolean;
  /** The text for the user. */
  readonly text: string;
}

/**
 * Tries a model: its speed, and whether its results make sense. Asks the process of the service if that answers and has
 * this very file, else a process of its own.
 * @throws UserError
 */
export async function test(name: string, env: Environment): Promise<TestResult> {
  if (!isModelName(name)) throw new UserError(`${JSON.stringify(name)}: allowed: ${MODEL_NAME_RULE}`);
  const settings = loadSettings(env, []);
  const addresses = modelsAddressesOf(settings);
  if (settings.models.urls.length > 0) {
    for (const address of addresses) {
      const model = await findDescription(address, name);
      if (model) return tryModel(address, model);
    }
    throw new UserError(`No process of models.urls answers and has ${name}.`);
  }
  const [configured] = addresses;
  const id = await identify(name, settings);
  const running = await findDescription(configured, id);
  if (running) return tryModel(configured, running);
  const quiet = { ...env, QUIRE_LOG_LEVEL: 'fatal' };
  return withModelsProcess(quiet, modelsDirectoryOf(settings), async ({ address }) => {
    // It may have to read the whole file first.
    const model = await findDescription(address, id, DESCRIPTION_PATIENCE_MS);
    if (model) return tryModel(address, model);
    throw new UserError(`The process with local models does not describe ${name}.`);
  });
}

/**
 * The name with the fingerprint, which only this very file has.
 * @throws UserError where there is no whole model of this name
 */
async function identify(name: string, settings: Settings): Promise<string> {
  const directory = modelsDirectoryOf(settings);
  const file = await findModelFile(directory, name);
  if (!file) throw new UserError(`There is no ${name} in ${directory}.`);
  await readModelHeader(file).catch((error: unknown) => {
    if (error instanceof DamagedModelError)
      throw new UserError(`${name} ${error.message}.`, { cause: error });
    if (error instanceof NoEngineError) throw new UserError(`${error.message}.`, { cause: error });
    throw error;
  });
  return `${name}@${await createFingerprints(directory).of(file)}`;
}

async function tryModel(address: ModelsAddress, model: ModelDescription): Promise<TestResult> {
  const { isSane, lines } = await tryKind(address, model);
  const { id, kind, architecture, window, size_bytes } = model;
  const head = `${id}: ${kind} (${architecture}), ${inMegabytes(size_bytes)} MB, window ${String(window)}`;
  return { isSane, text: [head, ...lines].join('\n') };
}

function tryKind(address: ModelsAddress, model: ModelDescription): Promise<Verdict> {
  switch (model.kind) {
    case 'embedding':
      return tryEmbedding(address, model);
    case 'ranking':
      return tryRanking(address, model);
    case 'chat':
      return tryChat(address, model);
  }
}

const completionSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })),
  usage: z.object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    prompt_tokens_details: z.object({ cached_tokens: z.int() }),
  }),
});

/** Each question has its answer at the same place; no words but the smallest are in both. */
export const QUESTIONS = [
  'How do plants make their food?',
  'What should I do when my bicycle has a flat tyre?',
] as const;
export const ANSWERS = [
  'Leaves turn sunlight, water and carbon dioxide into sugar by photosynthesis.',
  'Take off the wheel, find the hole in the inner tube and patch it.',
] as const;
const SENTENCE = 'The committee met on Tuesday to discuss the new railway bridge across the river. ';
/** As much of an answer is shown. */
export const SHOWN_CHARACTERS = 200;

const MAX_TOKENS = 48;

/** Tries a chat model. A model may say anything; a sane one says something. */
async function tryChat(address: ModelsAddress, model: ModelDescription): Promise<Verdict> {
  const ask = createChatAsk(address, model);
  // Loads the model, which is not to be measured.
  await ask('Hello', 1);
  // Never read before, so that nothing of it is reused: the id stands in front.
  const prompt = `${randomUUID()} ${SENTENCE.repeat(10)}\nWhat did the committee discuss?`;
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

function createChatAsk(address: ModelsAddress, { id, fingerprint }: ModelDescription) {
  return async (content: string, maxTokens: number) => {
    const begin = performance.now();
    const response = await postToModels(address, '/v1/chat/completions', {
      model: `${id}@${fingerprint}`,
      messages: [{ role: 'user', content }],
      max_tokens: maxTokens,
      temperature: 0,
    });
    const { choices, usage } = completionSchema.parse(await response.json());
    return { text: at(choices, 0).message.content, usage, milliseconds: performance.now() - begin };
  };
}

const rankingSchema = z.object({
  results: z.array(z.object({ index: z.int(), relevance_score: z.number() })),
  usage: z.object({ total_tokens: z.int() }),
});

const [QUERY] = QUESTIONS;
const [RELEVANT, IRRELEVANT] = ANSWERS;
const PAIRS = 16;

async function tryRanking(address: ModelsAddress, { id, fingerprint }: ModelDescription): Promise<Verdict> {
  const rank = async (documents: readonly string[]) => {
    const body = { model: `${id}@${fingerprint}`, query: QUERY, documents };
    return rankingSchema.parse(await (await postToModels(address, '/v1/rerank', body)).json());
  };
  const { results } = await rank([IRRELEVANT, RELEVANT]);
  const scoreOf = (index: number) => results.find((each) => each.index === index)?.relevance_score ?? 0;
  const isSane = scoreOf(1) > scoreOf(0);
  const begin = performance.now();
  const { usage } = await rank(
    Array.from({ length: PAIRS }, (_, one) => `${String(one)}. ${RELEVANT} ${IRRELEVANT}`),
  );
  const milliseconds = performance.now() - begin;
  return {
    isSane,
    lines: [
      `  speed   ${perSecond(PAIRS, milliseconds)} texts a second of ${String(Math.round(usage.total_tokens / PAIRS))} tokens with the query`,
      sanityLine(
        isSane,
        `the text that answers has ${scoreOf(1).toFixed(3)}, the other ${scoreOf(0).toFixed(3)}`,
      ),
    ],
  };
}

const embeddingSchema = z.object({
  data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()) })),
  usage: z.object({ prompt_tokens: z.int() }),
});

/** As long as a small chunk of a document: some hundred tokens. */
const CHUNK = SENTENCE.repeat(7);
const MAX_TEXTS = 64;
const ENOUGH_MS = 3_000;

async function tryEmbedding(address: ModelsAddress, model: ModelDescription): Promise<Verdict> {
  const embed = createEmbed(address, model);
  const prefixes = prefixesOf(`${model.name} ${model.id}`);
  const { vectors } = await embed([
    ...QUESTIONS.map((text) => prefixes.query + text),
    ...ANSWERS.map((text) => prefixes.document + text),
  ]);
  const alike = QUESTIONS.map((_, one) => dot(vectors[one], vectors[QUESTIONS.length + one]));
  const unlike = QUESTIONS.map((_, one) => dot(vectors[one], vectors[2 * QUESTIONS.length - 1 - one]));
  const isSane = alike.every((each, one) => each > (unlike[one] ?? each));
  const speed = await measureEmbedding(embed);
  const width = String(at(vectors, 0).length);
  return {
    isSane,
    lines: [
      `  vectors ${width} dimensions`,
      `  speed   ${perSecond(speed.texts, speed.milliseconds)} texts a second of ${String(Math.round(speed.tokens / speed.texts))} tokens, ${perSecond(speed.tokens, speed.milliseconds)} tokens a second`,
      sanityLine(
        isSane,
        `questions are ${shownSimilarities(alike)} like their answers, ${shownSimilarities(unlike)} like those of the other`,
      ),
    ],
  };
}

type Embed = (texts: readonly string[]) => Promise<{ vectors: number[][]; tokens: number }>;

function createEmbed(address: ModelsAddress, { id, fingerprint }: ModelDescription): Embed {
  return async (input) => {
    const body = { model: `${id}@${fingerprint}`, input };
    const response = await postToModels(address, '/v1/embeddings', body);
    const { data, usage } = embeddingSchema.parse(await response.json());
    return { vectors: data.map(({ embedding }) => embedding), tokens: usage.prompt_tokens };
  };
}

/** Embeds more and more texts at once, until it takes long enough to be measured. */
async function measureEmbedding(embed: Embed) {
  for (let texts = 4; ; texts *= 4) {
    const begin = performance.now();
    const { tokens } = await embed(Array.from({ length: texts }, (_, one) => `${String(one)}. ${CHUNK}`));
    const milliseconds = performance.now() - begin;
    if (texts >= MAX_TEXTS || milliseconds > ENOUGH_MS) return { texts, tokens, milliseconds };
  }
}

export const shownSimilarities = (similarities: readonly number[]) =>
  similarities.map((each) => each.toFixed(2)).join(' and ');

/** The findings of a trial of a model. */
export interface Verdict {
  readonly isSane: boolean;
  /** Lines for the user, each with its subject in front. */
  readonly lines: readonly string[];
}

export function sanityLine(isSane: boolean, shown: string): string {
  return `  sanity  ${isSane ? 'pass' : 'FAIL'}: ${shown}`;
}

export const inSeconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(2);
/** Three digits, since no measurement here has more. */
const perSecond = (count: number, milliseconds: number) =>
  Number(((count * 1_000) / milliseconds).toPrecision(3)).toLocaleString('en');

/** Returns the inner product of two vectors. A missing vector has nothing in common with any. */
export const dot = (one: ArrayLike<number> = [], other: ArrayLike<number> = []): number =>
  Array.from(one).reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
