import { describe, expect, test } from '@jest/globals';
import { readCompletionLimit, readTooLong } from '../../../src/shared/provider-http/too-long.js';

describe('a refusal is about length', () => {
  test.each(['context_length_exceeded', 'exceed_context_size_error', 'string_above_max_length'])(
    'by its code alone, whatever its message says: %s',
    (code) => {
      expect(readTooLong({ code, message: 'Der Text passt nicht.' })).toEqual({ window: null });
    },
  );

  test.each([
    ["This model's maximum context length is 8,192 tokens.", 8_192],
    ['The context window is only 2048', 2_048],
    ['the request exceeds the available context size (4096 tokens), try increasing it', 4_096],
    ['Input validation error: `inputs` must have less than 512 tokens. Given: 700', 512],
    ['`inputs` tokens + `max_new_tokens` must be <= 1024.', 1_024],
    ['prompt is too long: 9000 tokens > 8000 maximum', 8_000],
    ['The maximum number of tokens allowed (2048) is less than asked for', 2_048],
    ['Prompt contains 40000 tokens, too large for model with 32768 maximum context length', 32_768],
    ['The text cannot exceed 8194 tokens', 8_194],
    ['It is longer than the maximum of 256 tokens', 256],
    ['The input limit is 1000 input tokens', 1_000],
    ['Input exceeds the context window', null],
    ['query is too long', null],
    ['Please reduce the length of the messages', null],
    ['Too many input tokens', null],
  ])('by its words alone, which may tell the window: %s', (message, window) => {
    for (const code of [null, 'invalid_request_error'])
      expect(readTooLong({ code, message })).toEqual({ window });
  });

  test.each(['max_tokens is too large: 99999', 'The model does not exist', 'maximum context length is', ''])(
    'and no other is: %s',
    (message) => {
      expect(readTooLong({ code: 'invalid_request_error', message })).toBeNull();
    },
  );

  test('a number that no window has is none', () => {
    expect(readTooLong({ code: null, message: 'maximum context length is 0 tokens' })).toEqual({
      window: null,
    });
  });
});

test.each([
  ['This model supports at most 4,096 completion tokens', 4_096],
  ['max_tokens must be <= 2048', 2_048],
  ['max_completion_tokens: must be less than or equal to 1,000', 1_000],
  ['Range of max_tokens should be in range [1, 8192]', 8_192],
  ['maximum context length is 8192 tokens', null],
])('tells the longest completion: %s', (message, limit) => {
  expect(readCompletionLimit(message)).toBe(limit);
});
