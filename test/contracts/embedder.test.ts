import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin/embedder.js';
import { createOpenAIEmbedder } from '../../src/shared/adapters/openai/embedder.js';
import { startFakeOpenAI } from '../support/fake-openai.js';
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
