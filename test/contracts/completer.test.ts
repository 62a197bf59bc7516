import { createBuiltinCompleter } from '../../src/shared/adapters/builtin/completer.js';
import { createLangChainCompleter } from '../../src/shared/adapters/langchain/completer.js';
import { createOpenAICompleter } from '../../src/shared/adapters/openai/completer.js';
import { startFakeOpenAI } from '../support/fake-openai.js';
import { azureOptions, langChainClass } from '../support/langchain.js';
import { describeCompleter } from './completer-contract.js';

describeCompleter('builtin', () =>
  Promise.resolve({ completer: createBuiltinCompleter(), stop: () => Promise.resolve() }),
);

describeCompleter('openai', async () => {
  const provider = await startFakeOpenAI();
  const completer = createOpenAICompleter({
    apiKey: null,
    baseUrl: provider.url,
    model: 'fake-chat',
    contextWindow: 8192,
    timeoutMilliseconds: 30_000,
  });
  return { completer, stop: () => provider.stop() };
});

describeCompleter('langchain', async () => {
  const provider = await startFakeOpenAI({ apiKey: 'secret-key' });
  const completer = await createLangChainCompleter({
    provider: langChainClass('@langchain/openai:ChatOpenAI'),
    model: 'fake-chat',
    options: { apiKey: 'secret-key', configuration: { baseURL: provider.url } },
    contextWindow: 8192,
    timeoutMilliseconds: 30_000,
  });
  return { completer, stop: () => provider.stop() };
});

describeCompleter('langchain, of Azure', async () => {
  const provider = await startFakeOpenAI({ azureKey: 'secret-key' });
  const completer = await createLangChainCompleter({
    provider: langChainClass('@langchain/openai:AzureChatOpenAI'),
    model: 'fake-chat',
    options: azureOptions(provider.url, 'secret-key'),
    contextWindow: 8192,
    timeoutMilliseconds: 30_000,
  });
  return { completer, stop: () => provider.stop() };
});
