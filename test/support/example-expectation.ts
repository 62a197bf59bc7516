import { expect } from '@jest/globals';

/** Numbers that depend on the machine, or on how prompts are written. */
const variable = new Set([
  'created',
  'created_at',
  'duration_ms',
  'tokens_used',
  'token_count',
  'input_tokens',
  'output_tokens',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'free_bytes',
  'least_bytes',
]);
/** Ids that are made for an answer. */
const MADE_ID = /^(?:chatcmpl|resp|msg|fs)[-_][\da-f]{32}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const STORAGE_KEY = /^\d{4}-\d\d-\d\dT\d\d\/[\w-]+$/;

/** An example as an expectation: times are any time, scores are rounded. */
export function expectation(example: unknown): unknown {
  if (typeof example === 'number' && !Number.isInteger(example)) return expect.closeTo(example, 1);
  if (typeof example === 'string') {
    const pattern = [TIME, STORAGE_KEY, MADE_ID].find((each) => each.test(example));
    return pattern ? expect.stringMatching(pattern) : example;
  }
  if (Array.isArray(example)) return example.map(expectation);
  if (typeof example !== 'object' || example === null) return example;
  const entries = Object.entries(example).map(([key, value]) => {
    return [
      key,
      variable.has(key) && typeof value === 'number' ? expect.any(Number) : expectation(value),
    ] as const;
  });
  return Object.fromEntries(entries);
}
