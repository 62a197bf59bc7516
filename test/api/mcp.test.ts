import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createMcpRoute } from '../../src/api/protocols/mcp/route.js';
import { jsonBody, makeToken, startApi, type ApiClient } from '../support/api.js';
import { until } from '../support/until.js';

/** The signals of questions that are being answered; none is ever answered by itself. */
const asked = new Map<string, AbortSignal>();
let api: ApiClient;

beforeAll(async () => {
  const completions = {
    complete: ({ query, signal }: { query: string; signal: AbortSignal }) =>
      new Promise((_, reject) => {
        if (query === 'fail') reject(new Error('a secret of the inside'));
        asked.set(query, signal);
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      }),
  };
  // @NOTE no other service is called here.
  const services = { completions, documents: {}, retrieval: {}, ingest: {} } as never as Parameters<
    typeof createMcpRoute
  >[0];
  const logger = pino({ level: 'silent' });
  api = await startApi({ routes: [createMcpRoute({ ...services, bucket: 'b', logger })] });
});

afterAll(() => api.close());

const post = (
  message: object,
  { user = 'alice', session = 'a', signal }: { user?: string; session?: string; signal?: AbortSignal } = {},
) => {
  const { headers, ...init } = jsonBody({ jsonrpc: '2.0', ...message });
  return api.request('/mcp', {
    ...init,
    headers: { ...Object.fromEntries(new Headers(headers)), 'Mcp-Session-Id': session },
    token: makeToken({ entity_id: user }),
    ...(signal && { signal }),
  });
};
const ask = (id: unknown, question: string, options: Parameters<typeof post>[1] = {}) =>
  post({ id, method: 'tools/call', params: { name: 'ask', arguments: { question } } }, options);
const cancel = (requestId: unknown, options: Parameters<typeof post>[1] = {}) =>
  post({ method: 'notifications/cancelled', params: { requestId } }, options);

describe('a request that takes long', () => {
  test('ends when its client cancels it, in its session', async () => {
    const { headers } = await post({
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    });
    const session = headers.get('mcp-session-id') ?? '';
    expect(session).toMatch(/^[\da-f-]{36}$/);
    const answer = ask(1, 'first', { session });
    await until(() => asked.has('first'));
    expect((await cancel(1, { session })).status).toBe(202);
    await answer;
    expect(asked.get('first')?.aborted).toBe(true);
  });

  test('is not ended by another caller, another session or another id', async () => {
    const controller = new AbortController();
    const answer = ask(1, 'second', { signal: controller.signal }).catch(() => 'left');
    await until(() => asked.has('second'));
    await cancel(1, { user: 'bob' });
    await cancel(1, { session: 'b' });
    await cancel('1');
    await cancel(2);
    await sleep(20);
    expect(asked.get('second')?.aborted).toBe(false);
    controller.abort();
    expect(await answer).toBe('left');
  });

  test('ends when its client leaves', async () => {
    const controller = new AbortController();
    const answer = ask(1, 'third', { signal: controller.signal }).catch(() => 'left');
    await until(() => asked.has('third'));
    controller.abort();
    expect(await answer).toBe('left');
    await until(() => asked.get('third')?.aborted === true);
  });
});

test('an error that nobody foresaw tells nothing of the inside', async () => {
  const { status, body } = await ask(1, 'fail');
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      jsonrpc: '2.0',
      id: 1,
      result: { isError: true, content: [{ type: 'text', text: 'Internal server error' }] },
    },
  });
});
