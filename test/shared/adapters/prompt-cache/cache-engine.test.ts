import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createBuiltinCompleter } from '../../../../src/shared/adapters/builtin/completer.js';
import { createOpenAICompleter } from '../../../../src/shared/adapters/openai/completer.js';
import { createPromptCacheEngine } from '../../../../src/shared/adapters/prompt-cache/cache-engine.js';
import { renderPrefix } from '../../../../src/shared/models/prompt.js';
import { countTokens } from '../../../../src/shared/text/token-count.js';
import { collect } from '../../../support/collect.js';
import { startFakeOpenAI, type FakeOpenAI } from '../../../support/fake-openai.js';
import { rejection } from '../../../support/rejection.js';

let provider: FakeOpenAI;
beforeAll(async () => {
  provider = await startFakeOpenAI();
});
afterAll(() => provider.stop());
afterEach(() => {
  provider.reset();
});

function engine(contextWindow = 4096) {
  const connection = { apiKey: null, baseUrl: provider.url, timeoutMilliseconds: 30_000 };
  const completer = createOpenAICompleter({ ...connection, model: 'fake-chat', contextWindow });
  return createPromptCacheEngine({ completer, countTokens, renderPrefix });
}

const cache = { ownerId: 'owner', name: 'cache', build: 'build' };
const passages = [
  { documentId: 'a', chunkNumber: 0, text: 'The lighthouse is 60 metres tall.' },
  { documentId: 'b', chunkNumber: 0, text: 'Ferries leave from Emden.' },
];

test('says how many tokens of the window the passages take', async () => {
  const { tokenCount } = await engine().prepare(cache, { passages, from: null });
  expect(tokenCount).toBe(countTokens(renderPrefix(passages)));
  const more = await engine().prepare(cache, { passages: [...passages, ...passages], from: null });
  expect(more.tokenCount).toBeGreaterThan(tokenCount);
  expect(engine().contextWindow).toBe(4096);
});

test('sends every question after the same beginning', async () => {
  const tested = engine();
  for (const question of ['How tall?', 'From where?'])
    await collect(tested.query(cache, { question, passages }));
  const sent = provider.requests.map(({ body }) => JSON.stringify(body['messages']));
  const [first = '', second = ''] = sent;
  let shared = 0;
  while (first[shared] === second[shared]) shared += 1;
  expect(first.slice(shared)).toMatch(/^How tall\?/);
});

test('reports the tokens that the provider took from its own cache', async () => {
  expect((await collect(engine().query(cache, { question: 'How?', passages }))).end.tokensReused).toBe(0);
  provider.configure({ cachedTokens: 128 });
  expect((await collect(engine().query(cache, { question: 'How?', passages }))).end.tokensReused).toBe(128);
});

test('never asks for more than the window has left', async () => {
  const { tokenCount } = await engine().prepare(cache, { passages, from: null });
  await collect(engine(tokenCount + 200).query(cache, { question: 'How?', passages }, { maxTokens: 1000 }));
  const asked = Number(provider.requests[0]?.body['max_tokens']);
  expect(asked).toBeGreaterThan(100);
  expect(asked).toBeLessThanOrEqual(200);
  const error = await rejection(
    collect(engine(tokenCount).query(cache, { question: 'How?', passages }, { maxTokens: 10 })),
  );
  expect(error).toMatchObject({ kind: 'impossible' });
});

test('answers over the built-in completer too', async () => {
  const tested = createPromptCacheEngine({ completer: createBuiltinCompleter(), countTokens, renderPrefix });
  const { text, end } = await collect(
    tested.query(cache, { question: 'How tall is the lighthouse?', passages }),
  );
  expect(text).toContain('60 metres');
  expect(end).toMatchObject({ finishReason: 'stop', tokensReused: 0 });
});
