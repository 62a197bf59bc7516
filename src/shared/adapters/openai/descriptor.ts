import { prefixesFor } from '../../local-models/families.js';
import type { Rule } from '../../settings/rule.js';
import { openaiUrl } from '../../settings/sections/providers.js';
import { fetchFor } from '../../tracing/tracing.js';
import type { CompleterDescriptor, EmbedderDescriptor, NoSections, ReadSettings } from '../descriptor.js';

const orDefault = (model: string, standard: string) => (model === '' ? standard : model);
const embeddingModel = ({ model }: { readonly model: string }) => orDefault(model, 'text-embedding-3-small');
const chatModel = ({ model }: { readonly model: string }) => orDefault(model, 'gpt-4o-mini');

const placeOf = (section: string) =>
  ({
    at: 'provider',
    setBy: { key: 'OPENAI_API_KEY', model: `${section}.model`, address: `${section}.base_url` },
    isVersioned: true,
  }) as const;

const needsKey = (port: string, section: 'embedding' | 'completion'): Rule<ReadSettings<NoSections>> => ({
  names: [`${section}.base_url`],
  broken: (settings) => settings[section].baseUrl === openaiUrl && settings.openaiApiKey === null,
  problem: () => ({
    setting: port,
    value: '"openai"',
    allowed: `needs OPENAI_API_KEY, or ${section}.base_url of a provider that asks for no key`,
  }),
});

export const openaiEmbedder: EmbedderDescriptor<'openai'> = {
  name: 'openai',
  place: placeOf('embedding'),
  rules: [needsKey('embedder', 'embedding')],
  inUse: ({ embedding }) => ({ model: embeddingModel(embedding), address: embedding.baseUrl }),
  create: async ({ embedding, openaiApiKey, traces }) => {
    const { createOpenAIEmbedder } = await import('./embedder.js');
    return createOpenAIEmbedder({
      apiKey: openaiApiKey,
      baseUrl: embedding.baseUrl,
      fetch: fetchFor(traces),
      model: embeddingModel(embedding),
      prefixes: prefixesFor(embedding, ''),
      ...(embedding.dimensions > 0 ? { dimensions: embedding.dimensions } : {}),
      timeoutMilliseconds: embedding.timeoutSeconds * 1_000,
      maxInputs: embedding.maxInputs,
      maxTokens: embedding.maxTokens,
    });
  },
};

export const openaiCompleter: CompleterDescriptor<'openai'> = {
  name: 'openai',
  place: placeOf('completion'),
  rules: [needsKey('completer', 'completion')],
  inUse: ({ completion }) => ({ model: chatModel(completion), address: completion.baseUrl }),
  create: async ({ completion, openaiApiKey, traces }) => {
    const { createOpenAICompleter } = await import('./completer.js');
    return createOpenAICompleter({
      apiKey: openaiApiKey,
      baseUrl: completion.baseUrl,
      fetch: fetchFor(traces),
      model: chatModel(completion),
      contextWindow: completion.contextWindow,
      timeoutMilliseconds: completion.timeoutSeconds * 1_000,
    });
  },
};
