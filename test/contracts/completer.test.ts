import { createBuiltinCompleter } from '../../src/shared/adapters/builtin/completer.js';
import { createOpenAICompleter } from '../../src/shared/adapters/openai/completer.js';
import { startFakeOpenAI } from '../support/fake-openai.js';
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
