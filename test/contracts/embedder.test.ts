import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin/embedder.js';
import { createLangChainEmbedder } from '../../src/shared/adapters/langchain/embedder.js';
import { createOpenAIEmbedder } from '../../src/shared/adapters/openai/embedder.js';
import { startFakeOpenAI } from '../support/fake-openai.js';
import { azureOptions, langChainClass } from '../support/langchain.js';
import { describeEmbedder } from './embedder-contract.js';

describeEmbedder('builtin', () =>
  Promise.resolve({ embedder: createBuiltinEmbedder(), stop: () => Promise.resolve() }),
);

describeEmbedder('openai', async () => {
  const provider = await startFakeOpenAI({ apiKey: 'secret-key' });
  const embedder = createOpenAIEmbedder({
    apiKey: 'secret-key',
    baseUrl: provider.url,
    model: 'fake-embedding',
    timeoutMilliseconds: 30_000,
  });
  return { embedder, stop: () => provider.stop() };
});

describeEmbedder('langchain', async () => {
  const provider = await startFakeOpenAI({ apiKey: 'secret-key' });
  const options = { apiKey: 'secret-key', configuration: { baseURL: provider.url } };
  const embedder = await createLangChainEmbedder({
    provider: langChainClass('@langchain/openai:OpenAIEmbeddings'),
    model: 'fake-embedding',
    options,
    writtenOptions: options,
    timeoutMilliseconds: 30_000,
  });
  return { embedder, stop: () => provider.stop() };
});

describeEmbedder('langchain, of Azure', async () => {
  const provider = await startFakeOpenAI({ azureKey: 'secret-key' });
  const options = azureOptions(provider.url, 'secret-key');
  const embedder = await createLangChainEmbedder({
    provider: langChainClass('@langchain/openai:AzureOpenAIEmbeddings'),
    model: 'fake-embedding',
    options,
    writtenOptions: options,
    timeoutMilliseconds: 30_000,
  });
  return { embedder, stop: () => provider.stop() };
});
