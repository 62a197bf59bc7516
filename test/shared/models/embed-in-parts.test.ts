import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createOpenAIEmbedder } from '../../../src/shared/adapters/openai/embedder.js';
import { createEmbedding } from '../../../src/shared/models/embedding.js';
import { countTokens } from '../../../src/shared/text/token-count.js';
import { startFakeOpenAI, type FakeOpenAI } from '../../support/fake-openai.js';
import { rejection } from '../../support/rejection.js';

let provider: FakeOpenAI;
beforeAll(async () => {
  provider = await startFakeOpenAI();
});
afterAll(() => provider.stop());
afterEach(() => {
  provider.reset();
});

function open(maxInputs?: number) {
  const windows: number[] = [];
  const connection = { apiKey: 'sk', baseUrl: provider.url, timeoutMilliseconds: 30_000, model: 'small' };
  const embedder = createOpenAIEmbedder({ ...connection, ...(maxInputs ? { maxInputs } : {}) });
  const embedding = createEmbedding(embedder, {
    maxWaitMilliseconds: 0,
    onSmallWindow: (tokens) => windows.push(tokens),
  });
  const embed = (texts: readonly string[]) =>
    embedding.embedDocuments(texts.map((text) => ({ text, tokens: countTokens(text) })));
  return { windows, embed, embedding };
}

const words = (count: number, word = 'walrus') =>
  Array.from({ length: count }, (_, i) => `${word}${String(i % 7)}`).join(' ');
function cosine(one: Float32Array | undefined, other: Float32Array | undefined): number {
  let sum = 0;
  one?.forEach((value, i) => {
    sum += value * (other?.[i] ?? 0);
  });
  return sum;
}

describe('a model that reads less than a chunk holds', () => {
  test.each([
    ['vLLM', 400, "This model's maximum context length is {window} tokens, however you requested 700 tokens"],
    [
      'text-embeddings-inference',
      413,
      'Input validation error: `inputs` must have less than {window} tokens. Given: 700',
    ],
    ['Ollama', 400, 'the input length exceeds the context length'],
    [
      'Voyage',
      400,
      'The example at index 0 has too many tokens and does not fit into the context window of {window} tokens.',
    ],
    ['Jina', 422, 'Single text cannot exceed {window} tokens. 700 tokens given.'],
  ])('embeds long texts in parts whatever %s says', async (_, status, message) => {
    provider.configure({ maxInputTokens: 128, tooLong: { status, message, code: null } });
    const { embed, windows } = open();
    const { vectors, inParts } = await embed(['a short text', words(400), 'another one']);
    expect(inParts).toEqual([false, true, false]);
    expect(vectors).toHaveLength(3);
    for (const vector of vectors) expect(cosine(vector, vector)).toBeCloseTo(1, 5);
    // All words of the text are in its vector.
    const whole = await open().embed([words(7)]);
    expect(cosine(vectors[1], whole.vectors[0])).toBeGreaterThan(0.95);
    expect(windows).toHaveLength(1);
  });

  test('is not asked again with what it has refused', async () => {
    provider.configure({ maxInputTokens: 128 });
    const { embed, windows } = open();
    await embed([words(400)]);
    const before = provider.stats.requests;
    expect((await embed([words(300), 'short'])).inParts).toEqual([true, false]);
    expect(provider.stats.requests).toBe(before + 1);
    expect(windows).toEqual([102]);
  });

  test('that names no window is not asked again with what it has refused either', async () => {
    const message = 'the input length exceeds the context length';
    provider.configure({ maxInputTokens: 64, tooLong: { status: 400, message, code: null } });
    const { embed, windows } = open();
    await embed([words(400)]);
    const before = provider.stats.requests;
    await embed([words(400, 'seal')]);
    expect(provider.stats.requests).toBe(before + 1);
    expect(windows).toHaveLength(1);
    expect(windows[0]).toBeLessThanOrEqual(64);
  });

  test('does not cut all texts as short as one of unusual signs that it refuses later', async () => {
    provider.configure({ maxInputTokens: 128 });
    const { embed, windows } = open();
    await embed([words(400)]);
    provider.configure({ maxInputTokens: 32 });
    await embed([words(400)]);
    provider.configure({ maxInputTokens: 128 });
    const texts = provider.stats.embeddedTexts;
    await embed([words(60)]);
    expect(provider.stats.embeddedTexts - texts).toBeLessThanOrEqual(2);
    expect(windows).toEqual([102]);
  });

  test('gets no more parts in a request than the provider takes', async () => {
    provider.configure({ maxInputTokens: 64, maxInputs: 3 });
    const { embed } = open(3);
    expect((await embed([words(500), words(500, 'seal')])).inParts).toEqual([true, true]);
    expect(provider.stats.largestBatch).toBeLessThanOrEqual(3);
  });

  test('embeds long queries in parts, too', async () => {
    provider.configure({ maxInputTokens: 64 });
    const { embedding } = open();
    const { vector } = await embedding.embedQuery(words(300));
    const whole = await open().embed([words(7)]);
    expect(cosine(vector, whole.vectors[0])).toBeGreaterThan(0.95);
  });

  test('keeps whole characters', async () => {
    provider.configure({ maxInputTokens: 64 });
    const { embed } = open();
    await embed(['🦭'.repeat(300)]);
    const sent = provider.requests.flatMap(({ body }) => body['input']).flat();
    expect(sent.every((text) => typeof text === 'string' && text.isWellFormed())).toBe(true);
  });

  test('that refuses even short parts fails the text', async () => {
    provider.configure({ maxInputTokens: 4 });
    expect(await rejection(open().embed([words(40)]))).toMatchObject({
      name: 'IngestError',
      code: 'provider',
    });
  });
});

test('a model that reads all embeds texts whole', async () => {
  const { embed, windows } = open();
  expect((await embed([words(400)])).inParts).toEqual([false]);
  expect(windows).toEqual([]);
});
