import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createOpenAICompleter } from '../../../../src/shared/adapters/openai/completer.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import type { CompletionOptions } from '../../../../src/shared/ports.js';
import { countTokens } from '../../../../src/shared/text/token-count.js';
import { collect } from '../../../support/collect.js';
import { startFakeOpenAI, type FakeOpenAI } from '../../../support/fake-openai.js';
import { rejection } from '../../../support/rejection.js';
import { until } from '../../../support/until.js';

let provider: FakeOpenAI;
beforeAll(async () => {
  provider = await startFakeOpenAI();
});
afterAll(() => provider.stop());
afterEach(() => {
  provider.reset();
});

function completer(timeoutMilliseconds = 30_000) {
  const connection = { apiKey: 'sk-secret', baseUrl: provider.url, timeoutMilliseconds };
  return createOpenAICompleter({ ...connection, model: 'fake-chat', contextWindow: 8192 });
}

const prompt = {
  question: 'Which?',
  passages: [{ documentId: 'd', chunkNumber: 0, text: 'A passage about foxes and geese and nothing else.' }],
};
const complete = (options?: CompletionOptions) => collect(completer().complete(prompt, options));

test('streams the answer word by word as it comes', async () => {
  provider.configure({ answer: 'one two three', wordDelayMilliseconds: 60 });
  const inFlight: number[] = [];
  for await (const event of completer().complete(prompt))
    if (event.type === 'text') inFlight.push(provider.stats.inFlight);
  expect(inFlight).toHaveLength(3);
  // There is more to come when the first word is there.
  expect(inFlight[0]).toBe(1);
});

test('asks for a stream with usage, and for what the caller wants', async () => {
  await complete({ maxTokens: 5, temperature: 0.3 });
  expect(provider.requests[0]?.body).toMatchObject({
    model: 'fake-chat',
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 5,
    temperature: 0.3,
  });
});

test('reports what the provider billed, and what it had at hand', async () => {
  provider.configure({ answer: 'a b c', cachedTokens: 17 });
  const { end } = await complete();
  expect(end).toMatchObject({ completionTokens: 3, promptTokensReused: 17 });
  expect(end.promptTokens).toBeGreaterThan(50);
});

test('counts by itself when the provider does not', async () => {
  provider.configure({ answer: 'Foxes, geese und Gänse', sendsUsage: false });
  const { end, text } = await complete();
  expect(end.completionTokens).toBe(countTokens(text));
  expect(end.promptTokens).toBeGreaterThan(50);
});

test.each([
  ['stop', 'stop'],
  ['length', 'length'],
  ['content_filter', 'content_filter'],
  ['SAFETY', 'content_filter'],
  ['max_tokens', 'length'],
  ['eos', 'stop'],
])('calls a finish for reason %s a %s', async (finishReason, told) => {
  provider.configure({ finishReason });
  expect((await complete()).end.finishReason).toBe(told);
});

describe('a stream that goes wrong', () => {
  test.each(['dropped', 'unfinished', 'failed', 'not_json'] as const)(
    'by being %s is an error after its texts',
    async (stream) => {
      provider.configure({ stream, answer: 'one two three four' });
      const texts: string[] = [];
      const read = async () => {
        for await (const event of completer().complete(prompt))
          texts.push(event.type === 'text' ? event.text : 'END');
      };
      expect(await rejection(read())).toBeInstanceOf(UnavailableError);
      expect(texts).toEqual(['one', ' two']);
    },
  );

  test('by falling silent is given up, and closed', async () => {
    provider.configure({ stream: 'stalled' });
    expect(await rejection(collect(completer(250).complete(prompt)))).toBeInstanceOf(UnavailableError);
    await until(() => provider.stats.aborted === 1);
  });

  test('only by a slow reader is whole', async () => {
    provider.configure({ answer: 'one two three' });
    let text = '';
    for await (const event of completer(500).complete(prompt)) {
      await sleep(600);
      if (event.type === 'text') text += event.text;
    }
    expect(text).toBe('one two three');
  });

  test('only by being longer than the timeout as a whole is whole', async () => {
    provider.configure({ answer: 'one two three four five', wordDelayMilliseconds: 250 });
    expect((await collect(completer(1_000).complete(prompt))).text).toBe('one two three four five');
  });
});

describe('a caller who leaves', () => {
  test('by abort closes the request at the provider, and hears the reason', async () => {
    provider.configure({ wordDelayMilliseconds: 50 });
    const controller = new AbortController();
    const reason = new Error('enough');
    const read = async () => {
      for await (const event of completer().complete(prompt, { signal: controller.signal })) {
        if (event.type === 'text') controller.abort(reason);
      }
    };
    expect(await rejection(read())).toBe(reason);
    await until(() => provider.stats.aborted === 1 && provider.stats.inFlight === 0);
  });

  test('by no longer reading closes the request at the provider', async () => {
    provider.configure({ wordDelayMilliseconds: 50 });
    for await (const event of completer().complete(prompt)) if (event.type === 'text') break;
    await until(() => provider.stats.aborted === 1 && provider.stats.inFlight === 0);
  });
});

describe('a provider in trouble', () => {
  test('gets a second chance before the answer begins', async () => {
    provider.configure({ failures: [{ status: 500 }, { kind: 'disconnect' }], answer: 'fine' });
    expect((await complete()).text).toBe('fine');
  });

  test('is left alone for as long as it wants', async () => {
    provider.configure({ failures: [{ status: 429, headers: { 'retry-after': '40' } }] });
    expect(await rejection(complete())).toMatchObject({ name: 'UnavailableError', retryAfterSeconds: 40 });
  });

  test('that wants another key, or refuses the request, is unavailable', async () => {
    for (const failure of [{ status: 401, code: 'invalid_api_key' }, { status: 400 }, { status: 404 }]) {
      provider.configure({ failures: [failure] });
      expect(await rejection(complete())).toBeInstanceOf(UnavailableError);
    }
    expect(provider.stats.requests).toBe(3);
  });
});

describe('a server that knows not all parameters', () => {
  test.each([
    ['max_tokens', { max_completion_tokens: 4 }],
    ['temperature', { max_tokens: 4 }],
    ['stream_options', { max_tokens: 4, temperature: 1.5 }],
  ])('is asked without %s, from then on at once', async (refused, sent) => {
    provider.configure({ refusedParameters: [refused], answer: 'a b c d e f' });
    const tested = completer();
    for (const asked of [1, 2]) {
      const { text, end } = await collect(tested.complete(prompt, { maxTokens: 4, temperature: 1.5 }));
      expect({ asked, text, reason: end.finishReason }).toEqual({ asked, text: 'a b c d', reason: 'length' });
    }
    expect(provider.requests).toHaveLength(3);
    expect(provider.requests.at(-1)?.body).toMatchObject(sent);
    expect(provider.requests.at(-1)?.body).not.toHaveProperty(refused);
  });
});

test('asks no model when there are no passages', async () => {
  const { text } = await collect(completer().complete({ question: 'Who?', passages: [] }));
  expect(text).toMatch(/nothing was found/i);
  expect(provider.stats.requests).toBe(0);
});
