import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createOpenAICompleter } from '../../../../src/shared/adapters/openai/completer.js';
import { ContentFilterError, PromptTooLongError, UnavailableError } from '../../../../src/shared/errors.js';
import type { CompletionOptions } from '../../../../src/shared/ports.js';
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

function completer(timeoutMilliseconds = 30_000) {
  const connection = { apiKey: 'sk-secret', baseUrl: provider.url, timeoutMilliseconds };
  return createOpenAICompleter({ ...connection, model: 'fake-chat', contextWindow: 8192 });
}

const prompt = {
  question: 'Which?',
  passages: [{ documentId: 'd', chunkNumber: 0, text: 'A passage about foxes and geese and nothing else.' }],
};
const complete = (options?: CompletionOptions) => collect(completer().complete(prompt, options));

describe('a refusal in the form of another server', () => {
  const issue = (parameter: string) => [
    { type: 'extra_forbidden', loc: ['body', parameter], msg: 'Extra inputs are not permitted' },
  ];
  test.each([
    [
      'of Mistral',
      { object: 'error', message: { detail: issue('stream_options') }, param: null, code: null },
    ],
    ['of FastAPI', { detail: issue('stream_options') }],
    ['of FastAPI, about a field within', { detail: [{ loc: ['body', 'stream_options', 'include_usage'] }] }],
    ['of FastAPI, in words', { detail: 'unknown field stream_options' }],
    ['of Ollama', { error: 'json: unknown field "stream_options"' }],
    [
      'of vLLM',
      { object: 'error', message: 'stream_options is not allowed', type: 'BadRequestError', code: 400 },
    ],
  ])('%s has the parameter left out', async (_, body) => {
    provider.configure({ failures: [{ status: 422, body }], answer: 'fine' });
    expect((await complete({ maxTokens: 4 })).text).toBe('fine');
    expect(provider.requests.at(-1)?.body).not.toHaveProperty('stream_options');
  });

  test('that is nothing known makes the provider unavailable', async () => {
    for (const body of [{ detail: issue('model') }, [], 'no', { error: { message: null } }]) {
      provider.configure({ failures: [{ status: 422, body }] });
      expect(await rejection(complete())).toBeInstanceOf(UnavailableError);
    }
  });
});

test('asks for the longest completion that the model makes, where it says that', async () => {
  const message = 'max_tokens is too large: 9000. This model supports at most 4,096 completion tokens';
  provider.configure({ failures: [{ status: 400, message, param: 'max_tokens' }], answer: 'fine' });
  const tested = completer();
  for (const maxTokens of [9_000, 8_000, 20]) {
    expect((await collect(tested.complete(prompt, { maxTokens }))).text).toBe('fine');
    expect(provider.requests.at(-1)?.body).toMatchObject({ max_tokens: Math.min(4_096, maxTokens) });
  }
  expect(provider.requests).toHaveLength(4);
});

describe('a prompt that is too long', () => {
  test.each([
    [
      'OpenAI',
      "This model's maximum context length is 4,096 tokens. However, you requested 9000 tokens",
      4_096,
    ],
    [
      'vLLM',
      "'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 100 input tokens",
      4_096,
    ],
    [
      'llama.cpp',
      'request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it',
      4_096,
    ],
    ['Anthropic', 'prompt is too long: 215000 tokens > 200000 maximum', 200_000],
    ['Google', 'The input token count (9000) exceeds the maximum number of tokens allowed (8192).', 8_192],
    [
      'Mistral',
      'Prompt contains 9000 tokens and 0 draft tokens, too large for model with 4096 maximum context length',
      4_096,
    ],
    ['text-generation-inference', '`inputs` tokens + `max_new_tokens` must be <= 2048. Given: 3000', 2_048],
    ['LM Studio', 'The model is loaded with context length of only 4096 tokens, which is not enough', 4_096],
    ['Groq', 'Please reduce the length of the messages or completion.', null],
    ['Bedrock', 'Input is too long for requested model.', null],
  ])('is known as such from what %s says', async (_, message, window) => {
    provider.configure({ failures: [{ status: 400, message }] });
    expect(await rejection(complete({ maxTokens: 9 }))).toMatchObject({ name: 'ImpossibleError', window });
    expect(provider.requests).toHaveLength(1);
  });

  test('is known as such when it is refused within the stream', async () => {
    provider.configure({ stream: 'refused' });
    expect(await rejection(complete())).toBeInstanceOf(PromptTooLongError);
  });

  test.each([
    'max_tokens must be at least 1',
    'The model `gpt-9` does not exist',
    'Invalid value for temperature: 3 is greater than the maximum of 2',
    'Rate limit reached: limit is 3 requests',
  ])('is not seen in %s', async (message) => {
    provider.configure({ failures: [{ status: 400, message }], answer: 'fine' });
    const thrown: unknown = await complete().catch((error: unknown) => error);
    expect(thrown).not.toBeInstanceOf(PromptTooLongError);
  });
});

describe('an answer without a text', () => {
  test.each(['tool_calls', 'function_call', 'stop'])(
    'that ends with %s is an error',
    async (finishReason) => {
      for (const answer of ['', '\n']) {
        provider.configure({ answer, finishReason });
        expect(await rejection(complete())).toBeInstanceOf(UnavailableError);
      }
    },
  );

  test('because a filter withheld it is an error that says so', async () => {
    provider.configure({ answer: '', finishReason: 'content_filter' });
    expect(String(await rejection(complete()))).toMatch(/content filter/);
    const failures = [
      { status: 400, code: 'content_filter', param: 'prompt', message: 'The response was filtered' },
    ];
    provider.configure({ answer: 'fine', failures });
    expect(await rejection(complete())).toBeInstanceOf(ContentFilterError);
  });

  test('because the model used up its length says so', async () => {
    provider.configure({ answer: '', finishReason: 'length' });
    expect((await complete()).end.finishReason).toBe('length');
  });
});
