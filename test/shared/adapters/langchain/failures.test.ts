import { describe, expect, test } from '@jest/globals';
import { describeFailure, namesParameter } from '../../../../src/shared/adapters/langchain/failures.js';

const error = (fields: object, message = 'a secret message') => Object.assign(new Error(message), fields);

describe('what an error says', () => {
  test.each([
    [
      'OpenAI',
      { status: 429, headers: new Headers({ 'retry-after': '7' }), error: { code: null } },
      429,
      7_000,
    ],
    ['Cohere', { statusCode: 429, rawResponse: { headers: { 'Retry-After': '7' } } }, 429, 7_000],
    [
      'Bedrock',
      { $metadata: { httpStatusCode: 503 }, $response: { headers: { 'retry-after': '7' } } },
      503,
      7_000,
    ],
    ['axios', { response: { status: 500, headers: { 'retry-after-ms': '70' } } }, 500, 70],
    ['Ollama', { status_code: 500, error: 'out of memory' }, 500, null],
    ['Google', { code: 503, errors: [] }, 503, null],
    ['LangChain', { cause: error({ status: 408 }), retryAfterMs: 9 }, 408, 9],
    ['the network', new TypeError('fetch failed', { cause: error({ code: 'ECONNRESET' }) }), null, null],
    ['nobody', {}, null, null],
  ])('is found where %s says it', (_name, fields, status, retryAfterMilliseconds) => {
    const thrown = fields instanceof Error ? fields : error(fields);
    expect(describeFailure(thrown)).toMatchObject({ kind: 'transient', status, retryAfterMilliseconds });
  });

  test.each([
    [{ status: 400 }, 'refused'],
    [{ status: 413 }, 'refused'],
    [{ status: 422 }, 'refused'],
    [{ status: 400, code: 'model_not_found' }, 'misconfigured'],
    [{ status: 401 }, 'misconfigured'],
    [{ status: 404 }, 'misconfigured'],
    [{ status: 429, error: { code: 'insufficient_quota' } }, 'misconfigured'],
    [{ status: 429 }, 'transient'],
    [{ status: 529 }, 'transient'],
    [{ code: 20, name: 'AbortError' }, 'transient'],
  ])('decides about the next call: %j is %s', (fields, kind) => {
    expect(describeFailure(error(fields)).kind).toBe(kind);
  });

  test('is told by status, code and name, and never by its message', () => {
    const told = (thrown: unknown) => describeFailure(thrown).cause.message;
    expect(told(error({ status: 401, code: 'invalid_api_key' }))).toBe(
      'the provider answered 401 (invalid_api_key)',
    );
    expect(told(error({ status: 429, response: { type: 'basic' } }))).toBe('the provider answered 429');
    expect(told(error({ code: 'sk-key with spaces' }))).toBe('no usable answer from the provider (Error)');
    for (const strange of [
      null,
      undefined,
      7,
      'secret',
      { message: 'secret' },
      error({ name: 'a secret name' }),
    ]) {
      expect(told(strange)).not.toContain('secret');
    }
    const cyclic = error({});
    cyclic.cause = cyclic;
    expect(told(cyclic)).toBe('no usable answer from the provider (Error)');
  });

  test('names a parameter, or else its message does', () => {
    expect(namesParameter(error({ param: 'temperature' }), 'temperature')).toBe(true);
    expect(namesParameter(error({ param: 'messages' }, 'temperature'), 'temperature')).toBe(false);
    expect(namesParameter(error({}, "'temperature' is not supported"), 'temperature')).toBe(true);
    expect(namesParameter(error({}), 'temperature')).toBe(false);
  });
});
