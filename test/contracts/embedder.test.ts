import { createLangChainEmbedder } from '../../src/shared/adapters/langchain/embedder.js';
import { createEmbedder } from '../../src/shared/create-adapters.js';
import { startFakeOpenAI } from '../support/fake-openai.js';
import { azureOptions, langChainClass } from '../support/langchain.js';
import { settingsOf } from '../support/settings-of.js';
import { describeEmbedder } from './embedder-contract.js';

const onWaiting = () => undefined;

describeEmbedder('builtin', async () => ({
  embedder: await createEmbedder(settingsOf({}), { onWaiting }),
  stop: () => Promise.resolve(),
}));

describeEmbedder('openai', async () => {
  const provider = await startFakeOpenAI({ apiKey: 'secret-key' });
  const settings = settingsOf({
    OPENAI_API_KEY: 'secret-key',
    QUIRE_EMBEDDER: 'openai',
    QUIRE_EMBEDDING_BASE_URL: provider.url,
    QUIRE_EMBEDDING_MODEL: 'fake-embedding',
  });
  const embedder = await createEmbedder(settings, { onWaiting });
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
