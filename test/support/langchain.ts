import {
  createLangChainEmbedder,
  type LangChainEmbedderOptions,
} from '../../src/shared/adapters/langchain/embedder.js';
import { parseProviderClass, type ProviderClass } from '../../src/shared/models/provider-class.js';

/** A class as the settings name it. */
export function langChainClass(name: string): ProviderClass {
  const parsed = parseProviderClass(name);
  if (!parsed) throw new Error(`${name} names no class`);
  return parsed;
}

/** Options with which the classes for Azure reach the fake server, which answers under their paths, too. */
export function azureOptions(url: string, key: string) {
  return {
    azureOpenAIApiKey: key,
    azureOpenAIApiVersion: '2024-10-21',
    azureOpenAIBasePath: `${new URL(url).origin}/openai/deployments`,
    azureOpenAIApiDeploymentName: 'my-deployment',
  };
}

/** All that a logger would print of an error. */
export function printed(error: unknown): string {
  return error instanceof Error
    ? [error.name, error.message, error.stack, JSON.stringify(error), printed(error.cause)].join('\n')
    : String(error);
}

export interface EmbedderChanges extends Partial<LangChainEmbedderOptions> {
  readonly key?: string;
}

/** LangChain's class for OpenAI, asking a fake server. */
export function embedderOfOpenAI(
  url: string,
  apiKey: string,
  { key = apiKey, options = {}, ...changes }: EmbedderChanges = {},
) {
  const given = { apiKey: key, configuration: { baseURL: url }, ...options };
  return createLangChainEmbedder({
    provider: langChainClass('@langchain/openai:OpenAIEmbeddings'),
    model: 'fake-embedding',
    options: given,
    writtenOptions: given,
    timeoutMilliseconds: 30_000,
    ...changes,
  });
}
