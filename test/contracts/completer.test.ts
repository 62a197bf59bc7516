import { createLangChainCompleter } from '../../src/shared/adapters/langchain/completer.js';
import { createCompleter } from '../../src/shared/create-adapters.js';
import { startFakeOpenAI } from '../support/fake-openai.js';
import { azureOptions, langChainClass } from '../support/langchain.js';
import { settingsOf } from '../support/settings-of.js';
import { describeCompleter } from './completer-contract.js';

const onWaiting = () => undefined;

describeCompleter('builtin', async () => ({
  completer: await createCompleter(settingsOf({}), { onWaiting }),
  stop: () => Promise.resolve(),
}));

describeCompleter('openai', async () => {
  const provider = await startFakeOpenAI();
  const settings = settingsOf({
    QUIRE_COMPLETER: 'openai',
    QUIRE_COMPLETION_BASE_URL: provider.url,
    QUIRE_COMPLETION_MODEL: 'fake-chat',
    QUIRE_COMPLETION_CONTEXT_WINDOW: '8192',
  });
  const completer = await createCompleter(settings, { onWaiting });
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
