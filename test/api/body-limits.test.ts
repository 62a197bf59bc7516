import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createBodyBudget, type BodyBudget } from '../../src/api/http/request/body-budget.js';
import { defineRoute } from '../../src/api/http/route.js';
import { createHealthRoutes } from '../../src/api/routes/health.js';
import { createTokenRoutes } from '../../src/api/routes/tokens.js';
import { makeToken, startApi, type ApiClient } from '../support/api.js';
import { unlimitedGuesses } from '../support/guesses.js';
import { openRaw, type RawConnection } from '../support/raw-http.js';
import { until } from '../support/until.js';

const KIB = 1024;
const MAX_BYTES = 1024 * KIB;
const IDLE_MILLISECONDS = 1_000;

const common = {
  method: 'post',
  summary: 'x',
  tag: 'x',
  audit: null,
  responses: { 200: z.unknown() },
} as const;
const taking = { request: { body: z.object({ text: z.string() }) }, handle: () => done() } as const;
const done = () => Promise.resolve({ type: 'json', status: 200, body: {} } as const);

let bodies: BodyBudget;
let api: ApiClient;
let connections: RawConnection[] = [];
beforeAll(async () => {
  bodies = createBodyBudget({
    maxBytes: MAX_BYTES,
    shareBytes: MAX_BYTES / 4,
    idleMilliseconds: IDLE_MILLISECONDS,
  });
  const routes = [
    defineRoute({ ...common, ...taking, path: '/write', permission: 'write' }),
    defineRoute({ ...common, ...taking, path: '/small', permission: 'read', maxBodyBytes: 2 * KIB }),
    defineRoute({
      ...common,
      path: '/upload',
      permission: 'write',
      request: {},
      upload: { fields: z.object({}), alsoJson: false },
      handle: async ({ receiveUpload }, reply) => {
        const size = await receiveUpload?.({
          maxFileBytes: 64 * MAX_BYTES,
          fields: { metadata: MAX_BYTES },
          tooLarge: () => new Error('too large'),
          storeFile: async ({ bytes }) => {
            let sum = 0;
            for await (const part of bytes) sum += part.length;
            return sum;
          },
        });
        return reply.json(200, { size });
      },
    }),
    ...createTokenRoutes({
      makeUri: () => 'x',
      devMode: false,
      guesses: unlimitedGuesses,
      password: 'x'.repeat(16),
    }),
    ...createHealthRoutes({
      readiness: () => Promise.resolve({ ready: true, components: {}, disks: {} }),
      phase: () => 'serving',
    }),
  ];
  api = await startApi({ routes, bodies, bodyGraceSeconds: 1, maxJsonBytes: MAX_BYTES });
});
afterAll(() => api.close());
afterEach(async () => {
  for (const { socket } of connections) socket.destroy();
  connections = [];
  await until(() => bodies.heldBytes() === 0);
});

/** A request whose body is `length` long, of which `sent` bytes come. */
async function begin(path: string, { length = 0, sent = 0, permissions = ['write'], who = 'alice' }) {
  const connection = await openRaw(api.port);
  connections.push(connection);
  const token = who === '' ? [] : [`Authorization: Bearer ${makeToken({ entity_id: who, permissions })}`];
  const lines = [`POST ${path} HTTP/1.1`, 'Host: localhost', ...token, 'Content-Type: application/json'];
  connection.socket.write(`${[...lines, `Content-Length: ${String(length)}`].join('\r\n')}\r\n\r\n`);
  connection.socket.write('x'.repeat(sent));
  return connection;
}

const statusLine = /^HTTP\/1.1 (\d+) /;
const statusOf = async (connection: RawConnection) =>
  statusLine.exec(await connection.until(statusLine))?.[1];

describe('a body is not read', () => {
  test('when its token lacks the permission, or its sender any: nothing of it is needed to say so', async () => {
    expect(await statusOf(await begin('/write', { length: 900 * KIB, permissions: ['read'] }))).toBe('403');
    expect(await statusOf(await begin('/write', { length: 900 * KIB, who: '' }))).toBe('401');
    expect(bodies.heldBytes()).toBe(0);
  });

  test('when it is larger than its route has a use for, also in chunks', async () => {
    expect(await statusOf(await begin('/small', { length: 2 * KIB + 1, permissions: ['read'] }))).toBe('413');
    expect(await statusOf(await begin('/local/generate_uri', { length: 16 * KIB + 1, who: '' }))).toBe('401');
    expect(await statusOf(await begin('/write', { length: 200 * KIB, sent: 200 * KIB }))).toBe('422');
  });
});

describe('all bodies together', () => {
  test('of 200 strangers one byte short hold no more than their share, and others are served', async () => {
    for (let n = 0; n < 200; n += 1)
      await begin('/local/generate_uri', { length: 16 * KIB, sent: 16 * KIB - 1, who: '' });
    // A quarter, and what they may have of the room for small bodies.
    await until(() => bodies.heldBytes() >= MAX_BYTES / 4);
    expect(bodies.heldBytes()).toBeLessThanOrEqual(MAX_BYTES / 4 + MAX_BYTES / 64);
    expect(await api.request('/health')).toMatchObject({ status: 200 });
    expect(await statusOf(await begin('/write', { length: 9, sent: 9 }))).toBe('422');
    const last = connections.at(-3);
    expect(last && (await last.until(statusLine))).toMatch(/^HTTP\/1.1 (401|408|503) /);
  });

  test('have an end: 503 with Retry-After, and room again as soon as somebody is gone', async () => {
    for (const who of ['a', 'b', 'c', 'd'])
      await begin('/write', { length: MAX_BYTES, sent: 250 * KIB, who });
    await until(() => bodies.heldBytes() === MAX_BYTES);
    const refused = await begin('/write', { length: 20 * KIB, sent: 20 * KIB, who: 'e' });
    const answer = await refused.until(/\r\n\r\n.*\}/s);
    expect(answer).toMatch(/^HTTP\/1.1 503 /);
    expect(answer).toMatch(/^Retry-After: \d+\r$/m);
    connections[0]?.socket.destroy();
    await until(() => bodies.heldBytes() <= (MAX_BYTES * 3) / 4);
    expect(await statusOf(await begin('/write', { length: 20 * KIB, sent: 20 * KIB, who: 'e' }))).toBe('422');
  });

  test('leave room for small ones, and large ones that are idle give way to others', async () => {
    for (const who of ['a', 'b', 'c', 'd'])
      await begin('/write', { length: MAX_BYTES, sent: 250 * KIB, who });
    await until(() => bodies.heldBytes() === MAX_BYTES);
    const begun = performance.now();
    expect(await statusOf(await begin('/write', { length: 9, sent: 9, who: 'e' }))).toBe('422');
    await until(() => performance.now() - begun > IDLE_MILLISECONDS);
    const moving = await begin('/write', { length: 200 * KIB, sent: 100 * KIB, who: 'e' });
    const [first, second] = connections;
    expect(first && (await statusOf(first))).toBe('408');
    moving.socket.write('x'.repeat(100 * KIB));
    expect(await statusOf(moving)).toBe('422');
    expect(second?.received()).toBe('');
  });

  test('hold nothing for what was only announced', async () => {
    for (let n = 0; n < 20; n += 1) await begin('/write', { length: MAX_BYTES });
    expect(bodies.heldBytes()).toBe(0);
    expect(await statusOf(await begin('/write', { length: 20 * KIB, sent: 20 * KIB }))).toBe('422');
  });

  test('count an upload without its file, which is passed on', async () => {
    const form = new FormData();
    form.set('file', new Blob([Buffer.alloc(8 * MAX_BYTES)]), 'a.bin');
    const sent = { method: 'POST', body: form, token: makeToken() };
    expect(await api.request('/upload', sent)).toMatchObject({ status: 200, body: { size: 8 * MAX_BYTES } });
    const fields = new FormData();
    fields.set('metadata', 'x'.repeat(MAX_BYTES / 2));
    expect(await api.request('/upload', { ...sent, body: fields })).toMatchObject({ status: 503 });
  });
});

test('a body that trickles is ended with a 408, one that flows is not', async () => {
  const slow = await begin('/write', { length: 900, sent: 10 });
  const flowing = await begin('/write', { length: 200 * KIB, sent: 100 * KIB });
  expect(await statusOf(slow)).toBe('408');
  await slow.closed();
  flowing.socket.write('x'.repeat(100 * KIB));
  expect(await statusOf(flowing)).toBe('422');
});
