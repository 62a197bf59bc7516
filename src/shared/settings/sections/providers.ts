import { z } from 'zod';
import {
  choice,
  constructorOptions,
  day,
  flag,
  hour,
  modelName,
  orEmpty,
  providerClass,
  providerUrl,
  text,
  whole,
} from '../setting-kinds.js';

const prefix = {
  accepts: (value: string) => value.length <= 500,
  allowed: 'a text of at most 500 characters',
};

export const openaiUrl = 'https://api.openai.com/v1';

export const embedding = z.strictObject({
  model: text(
    '',
    orEmpty(modelName),
    'Model of the embedder, for `local` the name of its file; empty: text-embedding-3-small of openai, or the file that `quire models pull` takes by itself.',
  ),
  provider: text('', orEmpty(providerClass), 'Package and class of the langchain embedder.'),
  options: text('{}', constructorOptions, 'Options for the constructor of that class.', { secret: true }),
  queryPrefix: text(
    'auto',
    prefix,
    'Text that is put before queries for the model; `auto`: the text that the known families of local models were trained with, and none for others.',
  ),
  documentPrefix: text(
    'auto',
    prefix,
    'Text that is put before the texts of documents for the model; `auto`: as for queries.',
  ),
  baseUrl: text(openaiUrl, providerUrl, 'Address of the openai embedder: any compatible provider.'),
  dimensions: whole(0, { min: 0, max: 16_384 }, "Length of the vectors to ask for; 0: the model's own."),
  vectorType: choice(
    ['float32', 'float16'],
    'float32',
    'Type of the numbers in kept vectors: float16 takes half the memory and is a little less exact.',
  ),
  timeoutSeconds: whole(60, { min: 1, max: hour }, 'Longest time for an answer of the provider.'),
  maxInputs: whole(2048, { min: 1, max: 2048 }, 'Maximum number of texts in a request to the provider.'),
  maxTokens: whole(
    300_000,
    { min: 8192, max: 10_000_000 },
    'Maximum number of tokens in a request to the provider.',
  ),
  rememberQueriesSeconds: whole(
    600,
    { min: 0, max: day },
    'Time for which the vectors of queries are kept for the caller who asked them (100 a caller, 4,096 and 16 MiB in all); 0: not at all.',
  ),
});

export const completion = z.strictObject({
  model: text(
    '',
    orEmpty(modelName),
    'Model of the completer, for `local` the name of its file; empty: gpt-4o-mini of openai.',
  ),
  provider: text('', orEmpty(providerClass), 'Package and class of the langchain completer.'),
  options: text('{}', constructorOptions, 'Options for the constructor of that class.', { secret: true }),
  tracing: flag(
    false,
    'Permits that the environment lets LangChain pass prompts and answers on to LangSmith or to its own log.',
  ),
  baseUrl: text(openaiUrl, providerUrl, 'Address of the openai completer: any compatible provider.'),
  contextWindow: whole(32_768, { min: 1024, max: 10_000_000 }, 'Tokens of prompt and completion together.'),
  maxTokens: whole(
    1024,
    { min: 1, max: 32_768 },
    'Maximum number of tokens of a completion, unless its request says otherwise.',
  ),
  timeoutSeconds: whole(120, { min: 1, max: hour }, 'Longest silence of the provider within an answer.'),
});
