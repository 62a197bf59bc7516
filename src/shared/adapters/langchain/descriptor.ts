import { prefixesFor } from '../../local-models/families.js';
import { parseProviderClass, type ProviderClass } from '../../models/provider-class.js';
import { parseOptions, readOptions } from '../../settings/read-options.js';
import { SettingsError, type Rule, type Environment } from '../../settings/rule.js';
import { providerClass } from '../../settings/setting-kinds.js';
import type { CompleterDescriptor, EmbedderDescriptor, NoSections, ReadSettings } from '../descriptor.js';

type Section = 'embedding' | 'completion';
type OwnRule = Rule<ReadSettings<NoSections>>;

/** The class that the settings name has a client of its own, whose options say the key and the address. */
const placeOf = (section: Section) =>
  ({
    at: 'provider',
    setBy: { key: `${section}.options`, model: `${section}.model`, address: `${section}.options` },
  }) as const;

const inUse = ({ provider, model }: { readonly provider: string; readonly model: string }) => ({
  model: `${provider} ${model}`.trim(),
  address: null,
});

const rulesOf = (port: string, section: Section): OwnRule[] => [
  needed(port, section, { name: 'provider', what: providerClass.allowed }),
  needed(port, section, { name: 'model', what: 'the name of the model at the provider' }),
  {
    names: [`${section}.options`],
    broken: () => true,
    problem: (settings, { env }) =>
      readOptions(`${section}.options`, settings[section].options, env).problems,
  },
];

const needed = (
  port: string,
  section: Section,
  { name, what }: { readonly name: 'provider' | 'model'; readonly what: string },
): OwnRule => ({
  names: [`${section}.${name}`],
  broken: (settings) => settings[section][name] === '',
  problem: () => ({
    setting: `${section}.${name}`,
    value: '""',
    allowed: `needed with ${port} = "langchain": ${what}`,
  }),
});

const passesNothingOn: OwnRule = {
  names: ['completion.tracing'],
  broken: ({ completion }, { env }) => !completion.tracing && reportingVariables(env).length > 0,
  problem: (_settings, { env }) => ({
    setting: reportingVariables(env).join(', '),
    value: null,
    allowed:
      "with it LangChain passes on prompts, which hold the owners' texts: unset it, or set completion.tracing = true",
  }),
};

export const langchainEmbedder: EmbedderDescriptor<'langchain'> = {
  name: 'langchain',
  place: placeOf('embedding'),
  rules: rulesOf('embedder', 'embedding'),
  inUse: ({ embedding }) => inUse(embedding),
  create: async ({ embedding, constructorOptions }) => {
    const { createLangChainEmbedder } = await import('./embedder.js');
    return blamed('embedding', embedding.provider, (provider) =>
      createLangChainEmbedder({
        provider,
        model: embedding.model,
        prefixes: prefixesFor(embedding, ''),
        ...(embedding.dimensions > 0 ? { dimensions: embedding.dimensions } : {}),
        options: constructorOptions.embedding,
        writtenOptions: parseOptions(embedding.options) ?? {},
        timeoutMilliseconds: embedding.timeoutSeconds * 1_000,
        maxInputs: embedding.maxInputs,
        maxTokens: embedding.maxTokens,
      }),
    );
  },
};

export const langchainCompleter: CompleterDescriptor<'langchain'> = {
  name: 'langchain',
  place: placeOf('completion'),
  rules: [...rulesOf('completer', 'completion'), passesNothingOn],
  inUse: ({ completion }) => inUse(completion),
  create: async ({ completion, constructorOptions }) => {
    const { createLangChainCompleter } = await import('./completer.js');
    return blamed('completion', completion.provider, (provider) =>
      createLangChainCompleter({
        provider,
        model: completion.model,
        options: constructorOptions.completion,
        contextWindow: completion.contextWindow,
        timeoutMilliseconds: completion.timeoutSeconds * 1_000,
      }),
    );
  },
};

/** @throws SettingsError when the class that the settings name cannot be used */
async function blamed<Made>(
  section: Section,
  text: string,
  create: (provider: ProviderClass) => Promise<Made>,
): Promise<Made> {
  const wrong = (allowed: string) =>
    new SettingsError([{ setting: `${section}.provider`, value: JSON.stringify(text), allowed }]);
  const provider = parseProviderClass(text);
  if (!provider) throw wrong(`allowed: ${providerClass.allowed}`);
  const { UnusableClassError } = await import('./load-class.js');
  try {
    return await create(provider);
  } catch (error) {
    if (error instanceof UnusableClassError) throw wrong(error.message);
    throw error;
  }
}

/** Variables with which LangChain sends each prompt and answer to LangSmith, or writes it to standard output. */
const SWITCHES = [
  'LANGSMITH_TRACING',
  'LANGSMITH_TRACING_V2',
  'LANGCHAIN_TRACING',
  'LANGCHAIN_TRACING_V2',
  'LANGCHAIN_VERBOSE',
];
/** The variable by which requests to a model take a way through LangSmith. */
const GATEWAY = 'LANGSMITH_GATEWAY';

/** Returns the variables of the environment that let LangChain pass its requests on. It reads them itself, at every call. */
function reportingVariables(env: Environment): string[] {
  const isOn = (name: string) => !['', 'false', '0', 'no'].includes(env[name]?.toLowerCase() ?? '');
  return [...SWITCHES, GATEWAY].filter(isOn);
}
