import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import {
  createLangChainCompleter,
  type LangChainCompleterOptions,
} from '../../../../src/shared/adapters/langchain/completer.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import type { CompletionOptions } from '../../../../src/shared/ports.js';
import { countTokens } from '../../../../src/shared/text/token-count.js';
import { collect } from '../../../support/collect.js';
import { langChainClass, printed } from '../../../support/langchain.js';
import { rejection } from '../../../support/rejection.js';
import { useFakeOpenAI } from '../../../support/shared/use-fake-openai.js';
import { until } from '../../../support/until.js';

const KEY = 'sk-very-secret';
const provider = useFakeOpenAI({ apiKey: KEY });

interface Changes extends Partial<LangChainCompleterOptions> {
  readonly key?: string;
}

function create({ key = KEY, options = {}, ...changes }: Changes = {}) {
  return createLangChainCompleter({
    provider: langChainClass('@langchain/openai:ChatOpenAI'),
    model: 'fake-chat',
    options: { apiKey: key, configuration: { baseURL: provider.url }, ...options },
    contextWindow: 8192,
    timeoutMilliseconds: 30_000,
    ...changes,
  });
}

const prompt = {
  question: 'Which?',
  passages: [{ documentId: 'd', chunkNumber: 0, text: 'A passage about foxes and geese and nothing else.' }],
};
const complete = async (options?: CompletionOptions, changes?: Changes) =>
  collect((await create(changes)).complete(prompt, options));

test('is named after package, class and model', async () => {
  expect((await create()).model).toBe('langchain:@langchain/openai:ChatOpenAI:fake-chat');
});

test('streams the answer word by word as it comes', async () => {
  provider.configure({ answer: 'one two three', wordDelayMilliseconds: 60 });
  const inFlight: number[] = [];
  for await (const event of (await create()).complete(prompt))
    if (event.type === 'text') inFlight.push(provider.stats.inFlight);
  expect(inFlight).toHaveLength(3);
  // There is more to come when the first word is there.
  expect(inFlight[0]).toBe(1);
});

test('asks for a stream with usage, with what the caller and the settings want', async () => {
  const completer = await create({ options: { topP: 0.9, temperature: 0.7 } });
  for (const call of [
    { maxTokens: 5, temperature: 0.3 },
    { maxTokens: 6 },
    { maxTokens: 5, temperature: 0 },
  ]) {
    await collect(completer.complete(prompt, call));
  }
  const common = { model: 'fake-chat', stream: true, stream_options: { include_usage: true }, top_p: 0.9 };
  expect(provider.requests.map(({ body }) => body)).toMatchObject([
    { ...common, max_tokens: 5, temperature: 0.3 },
    { ...common, max_tokens: 6, temperature: 0.7 },
    { ...common, max_tokens: 5, temperature: 0 },
  ]);
  expect(provider.requests[0]?.body['messages']).toMatchObject([{ role: 'system' }, { role: 'user' }]);
});

test('asks for its own length each time, however many lengths there are', async () => {
  const completer = await create();
  const lengths = Array.from({ length: 40 }, (_, index) => 1 + ((index * 7) % 20));
  for (const maxTokens of lengths) await collect(completer.complete(prompt, { maxTokens }));
  expect(provider.requests.map(({ body }) => body['max_tokens'])).toEqual(lengths);
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
  expect(end).not.toHaveProperty('promptTokensReused');
});

test.each([
  ['stop', 'stop'],
  ['length', 'length'],
  ['content_filter', 'content_filter'],
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
        for await (const event of (await create()).complete(prompt))
          texts.push(event.type === 'text' ? event.text : 'END');
      };
      expect(await rejection(read())).toBeInstanceOf(UnavailableError);
      expect(texts).toEqual(['one', ' two']);
    },
  );

  test('by falling silent is given up, and closed', async () => {
    provider.configure({ stream: 'stalled' });
    const error = await rejection(complete({}, { timeoutMilliseconds: 250 }));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(printed(error)).toContain('took too long');
    await until(() => provider.stats.aborted === 1);
  });

  test('before it begins by falling silent is given up, and closed', async () => {
    provider.configure({ failures: [{ kind: 'silence' }] });
    expect(await rejection(complete({}, { timeoutMilliseconds: 250 }))).toBeInstanceOf(UnavailableError);
    await until(() => provider.stats.aborted === 1);
  });

  test('only by a slow reader is whole', async () => {
    provider.configure({ answer: 'one two three' });
    let text = '';
    for await (const event of (await create({ timeoutMilliseconds: 500 })).complete(prompt)) {
      await sleep(600);
      if (event.type === 'text') text += event.text;
    }
    expect(text).toBe('one two three');
  });

  test('only by being longer than the timeout as a whole is whole', async () => {
    provider.configure({ answer: 'one two three four five', wordDelayMilliseconds: 250 });
    expect((await complete({}, { timeoutMilliseconds: 1_000 })).text).toBe('one two three four five');
  });
});

describe('a caller who leaves', () => {
  test('by abort closes the request at the provider, and hears the reason', async () => {
    provider.configure({ wordDelayMilliseconds: 50 });
    const controller = new AbortController();
    const reason = new Error('enough');
    const read = async () => {
      for await (const event of (await create()).complete(prompt, { signal: controller.signal })) {
        if (event.type === 'text') controller.abort(reason);
      }
    };
    expect(await rejection(read())).toBe(reason);
    await until(() => provider.stats.aborted === 1 && provider.stats.inFlight === 0);
  });

  test('by abort before the answer begins does so, too', async () => {
    provider.configure({ failures: [{ kind: 'silence' }] });
    const controller = new AbortController();
    const answer = rejection(complete({ signal: controller.signal }));
    await until(() => provider.stats.inFlight === 1);
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await answer).toBe(reason);
    await until(() => provider.stats.aborted === 1 && provider.stats.inFlight === 0);
  });

  test('by no longer reading closes the request at the provider', async () => {
    provider.configure({ wordDelayMilliseconds: 50 });
    for await (const event of (await create()).complete(prompt)) if (event.type === 'text') break;
    await until(() => provider.stats.aborted === 1 && provider.stats.inFlight === 0);
  });
});

describe('a provider in trouble', () => {
  test.each([{ status: 500 }, { status: 429 }, { kind: 'disconnect' as const }])(
    'is asked once: %j',
    async (failure) => {
      provider.configure({ failures: [failure] });
      expect(await rejection(complete())).toBeInstanceOf(UnavailableError);
      expect(provider.stats.requests).toBe(1);
    },
  );

  test('is left alone for as long as it wants', async () => {
    provider.configure({ failures: [{ status: 429, headers: { 'retry-after': '40' } }] });
    expect(await rejection(complete())).toMatchObject({ name: 'UnavailableError', retryAfterSeconds: 40 });
  });

  test('that wants another key, or refuses the request, is unavailable', async () => {
    for (const failure of [{ status: 401, code: 'invalid_api_key' }, { status: 400 }, { status: 404 }]) {
      provider.configure({ failures: [failure] });
      expect(await rejection(complete())).toMatchObject({ name: 'UnavailableError', retryAfterSeconds: 60 });
    }
    expect(provider.stats.requests).toBe(3);
  });

  test('never makes the key nor the prompt known', async () => {
    const message = `Your key ${KEY} may not ask about foxes and geese`;
    provider.configure({
      failures: [
        { status: 401, message },
        { status: 400, message },
        { status: 500, message },
      ],
    });
    for (const asked of [1, 2, 3]) {
      expect(`${String(asked)} ${printed(await rejection(complete()))}`).not.toMatch(/secret|foxes/);
    }
    const badKey = await rejection(complete({}, { key: 'sk-bad\nsecret' }));
    expect(printed(badKey)).not.toContain('secret');
  });
});

test('a model that refuses a temperature is asked without one, from then on at once', async () => {
  provider.configure({ refusedParameters: ['temperature'], answer: 'a b c d e f' });
  const completer = await create();
  for (const asked of [1, 2]) {
    const { text, end } = await collect(completer.complete(prompt, { maxTokens: 4, temperature: 1.5 }));
    expect({ asked, text, reason: end.finishReason }).toEqual({ asked, text: 'a b c d', reason: 'length' });
  }
  expect(provider.requests.map(({ body }) => body['temperature'])).toEqual([1.5, undefined, undefined]);
});

test('a refusal that only quotes the word is no reason to leave temperatures out', async () => {
  const quoting = { status: 400, message: 'What is the temperature of a fox? is against our rules' };
  provider.configure({ failures: [quoting, quoting] });
  const completer = await create();
  const ask = () => collect(completer.complete(prompt, { temperature: 0.5 }));
  expect(await rejection(ask())).toBeInstanceOf(UnavailableError);
  await ask();
  expect(provider.requests.map(({ body }) => body['temperature'])).toEqual([0.5, undefined, 0.5]);
});

test('asks no model when there are no passages', async () => {
  const completer = await create();
  const { text } = await collect(completer.complete({ question: 'Who?', passages: [] }));
  expect(text).toMatch(/nothing was found/i);
  expect(provider.stats.requests).toBe(0);
});
