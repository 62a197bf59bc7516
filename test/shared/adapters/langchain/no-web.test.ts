import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createLangChainCompleter } from '../../../../src/shared/adapters/langchain/completer.js';
import { createLangChainEmbedder } from '../../../../src/shared/adapters/langchain/embedder.js';
import { construct, loadClass, methodOf } from '../../../../src/shared/adapters/langchain/load-class.js';
import { collect } from '../../../support/collect.js';
import { langChainClass } from '../../../support/langchain.js';
import { rejection } from '../../../support/rejection.js';
import { useFakeOpenAI } from '../../../support/shared/use-fake-openai.js';

const provider = useFakeOpenAI({ sendsUsage: false });

/** Hosts beyond this machine that were asked, none of which answers. */
const asked: string[] = [];
const { fetch } = globalThis;
beforeEach(() => {
  asked.length = 0;
  globalThis.fetch = async (input, init) => {
    const { hostname } = new URL(input instanceof Request ? input.url : input);
    if (hostname === '127.0.0.1') return fetch(input, init);
    asked.push(hostname);
    throw new TypeError('there is no web here');
  };
});
afterEach(() => {
  globalThis.fetch = fetch;
});

const common = () => ({
  model: 'gpt-4o',
  options: { apiKey: 'none', configuration: { baseURL: provider.url } },
  writtenOptions: {},
  timeoutMilliseconds: 5_000,
});

test('no tokens are counted with ranks from the web, whatever a provider does not tell', async () => {
  const completer = await createLangChainCompleter({
    ...common(),
    provider: langChainClass('@langchain/openai:ChatOpenAI'),
    contextWindow: 8192,
  });
  const passages = [{ documentId: 'd', chunkNumber: 0, text: 'A passage about foxes.' }];
  const prompt = { question: 'Which?', passages };
  const { end } = await collect(completer.complete(prompt, { maxTokens: 20 }));
  expect(end.completionTokens).toBeGreaterThan(0);
  provider.configure({ failures: [{ status: 400, message: 'maximum context length is 8192 tokens' }] });
  await rejection(collect(completer.complete(prompt)));
  const embedder = await createLangChainEmbedder({
    ...common(),
    provider: langChainClass('@langchain/openai:OpenAIEmbeddings'),
  });
  expect((await embedder.embedDocuments(['one', 'two'])).tokens).toBeNull();
  expect(asked).toEqual([]);
});

test('which the class would do if it were asked', async () => {
  const type = await loadClass(langChainClass('@langchain/openai:ChatOpenAI'));
  const model = construct(type, { ...common().options, model: 'gpt-4o' });
  const warn = console.warn;
  console.warn = () => undefined;
  try {
    await methodOf(type, 'getNumTokens')?.call(model, 'one two three');
  } finally {
    console.warn = warn;
  }
  expect(new Set(asked)).toEqual(new Set(['tiktoken.pages.dev']));
}, 240_000);
