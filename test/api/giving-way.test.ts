import { setTimeout as sleep } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import type { ApiReply } from '../../src/api/http/response/reply.js';
import { createAnswerMemory } from '../../src/api/services/answer-memory/answer-memory.js';
import { makeToken, startApi, type ApiClient } from '../support/api.js';
import { openRaw, type RawConnection } from '../support/raw-http.js';
import { get } from '../support/streaming-routes.js';
import { until } from '../support/until.js';

const MEGABYTE = 1024 ** 2;
/** More than the buffers of a connection hold. */
const BODY = Array.from({ length: 400 }, () => 'x'.repeat(60_000));
const BODY_BYTES = JSON.stringify(BODY).length;

/** A download, which takes no memory of answers. */
const FILE_BYTES = 24 * MEGABYTE;
const file = (): ApiReply => ({
  type: 'download',
  filename: 'file',
  contentType: 'application/octet-stream',
  sizeBytes: FILE_BYTES,
  bytes: Readable.from(Array.from({ length: 24 }, () => Buffer.alloc(MEGABYTE))),
});

interface Serving {
  readonly memory: ReturnType<typeof createAnswerMemory>;
  /** Connections that had to give way. */
  readonly cutOff: () => number;
  /** Asks for a long answer, and takes nothing of it but its beginning. */
  readonly askAndPause: (callerId: string, path?: string) => Promise<RawConnection>;
  /** Changes something, and takes nothing of the long answer to that. */
  readonly changeAndPause: (callerId: string) => Promise<RawConnection>;
  readonly ask: (callerId: string) => ReturnType<ApiClient['request']>;
  /** All that `askAndPause` gave. */
  readonly connections: readonly RawConnection[];
}

/** A test with an API of its own: nearly all of its time is waiting, so that these tests wait together. */
function servingTest(name: string, run: (serving: Serving) => Promise<void>): void {
  test.concurrent(
    name,
    async () => {
      let cutOff = 0;
      const connections: RawConnection[] = [];
      // Four such answers fit, and two of one caller.
      const memory = createAnswerMemory({ limitBytes: 4.5 * BODY_BYTES, waitMilliseconds: 20_000 });
      const api = await startApi({
        routes: [
          { ...get('/long', () => ({ type: 'json', status: 200, body: BODY })), permission: 'read' },
          { ...get('/file', file), permission: 'read' },
          {
            ...get('/change', () => ({ type: 'json', status: 200, body: BODY })),
            method: 'post',
            permission: 'write',
          },
        ],
        answerMemory: memory,
        giveWayMilliseconds: 1_500,
        stalledMilliseconds: 120_000,
        onCutOff: () => (cutOff += 1),
      });
      const askAndPause = async (callerId: string, path = '/long') => {
        const connection = await openRaw(api.port);
        connections.push(connection);
        const token = makeToken({ entity_id: callerId });
        connection.socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`);
        await connection.until(/200 OK/);
        connection.socket.pause();
        return connection;
      };
      const changeAndPause = async (callerId: string) => {
        const connection = await openRaw(api.port);
        connections.push(connection);
        const token = makeToken({ entity_id: callerId });
        connection.socket.write(
          `POST /change HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Length: 0\r\n\r\n`,
        );
        return connection;
      };
      const ask = (callerId: string) => api.request('/long', { token: makeToken({ entity_id: callerId }) });
      try {
        await run({ memory, cutOff: () => cutOff, askAndPause, changeAndPause, ask, connections });
      } finally {
        for (const { socket } of connections) socket.destroy();
        await api.close();
      }
    },
    60_000,
  );
}

servingTest(
  'stalled connections of who holds most give way to a caller who waits, and to nobody else',
  async ({ memory, cutOff, askAndPause, ask, connections }) => {
    await askAndPause('heavy');
    await askAndPause('heavy');
    await askAndPause('second');
    await sleep(3_000);
    // Nobody waits.
    expect([cutOff(), memory.figures().waiting]).toEqual([0, 0]);
    expect((await ask('third')).status).toBe(200);
    expect(cutOff()).toBeGreaterThanOrEqual(1);
    expect(cutOff()).toBeLessThanOrEqual(2);
    const [, , second] = connections;
    expect(second?.socket.destroyed).toBe(false);
  },
);

servingTest(
  'a slow download gives way to nobody: it holds none of the memory',
  async ({ cutOff, askAndPause, ask }) => {
    const { socket: download } = await askAndPause('heavy', '/file');
    for (const callerId of ['heavy', 'heavy', 'second']) await askAndPause(callerId);
    await sleep(3_000);
    expect((await ask('third')).status).toBe(200);
    expect(cutOff()).toBeGreaterThanOrEqual(1);
    let taken = 0;
    let isClosed = false;
    download.removeAllListeners('data').on('data', (piece: Buffer) => (taken += piece.length));
    download.once('close', () => (isClosed = true));
    download.resume();
    await until(() => isClosed || taken > 0.9 * FILE_BYTES);
    expect(taken).toBeGreaterThan(0.9 * FILE_BYTES);
  },
);

servingTest(
  'where who holds most has no slow connection, that of the next one gives way',
  async ({ memory, cutOff, askAndPause, ask }) => {
    await memory.reserve({ callerId: 'heavy', bytes: 2 * BODY_BYTES });
    await askAndPause('second');
    await sleep(3_000);
    expect(cutOff()).toBe(0);
    expect((await ask('third')).status).toBe(200);
    expect(cutOff()).toBe(1);
  },
);

servingTest(
  'who takes an answer steadily is not cut off for others',
  async ({ memory, cutOff, askAndPause, ask }) => {
    const steady = [await askAndPause('heavy'), await askAndPause('heavy')];
    await askAndPause('second');
    const third = ask('third');
    await until(() => memory.figures().waiting === 1);
    let taken = 0;
    for (const { socket } of steady)
      socket.removeAllListeners('data').on('data', (piece: Buffer) => (taken += piece.length));
    for (let turns = 0; turns < 40 && taken < 2 * BODY_BYTES; turns += 1) {
      for (const { socket } of steady) socket.resume();
      await sleep(5);
      for (const { socket } of steady) socket.pause();
      await sleep(95);
    }
    for (const { socket } of steady) socket.resume();
    expect((await third).status).toBe(200);
    expect(cutOff()).toBe(0);
  },
);

servingTest(
  'a caller who waits for its own answers alone cuts nothing off',
  async ({ memory, cutOff, askAndPause, ask, connections }) => {
    await askAndPause('heavy');
    await askAndPause('heavy');
    const own = ask('heavy').catch(() => null);
    await until(() => memory.figures().waiting === 1);
    await sleep(4_000);
    expect([cutOff(), memory.figures().waiting]).toEqual([0, 1]);
    for (const { socket } of connections) socket.destroy();
    await own;
  },
);

servingTest(
  'answers to changes that nobody reads take no more than answers to questions: the rest is cut off',
  async ({ memory, changeAndPause, ask }) => {
    const changes = await Promise.all(Array.from({ length: 12 }, () => changeAndPause('heavy')));
    await until(() => changes.filter(({ socket }) => socket.closed).length >= 8);
    expect(memory.figures().held).toBeLessThanOrEqual(2.25 * BODY_BYTES);
    const begun = changes.filter(({ received }) => received().startsWith('HTTP/1.1 200'));
    expect(begun.length).toBeLessThanOrEqual(2);
    // None is told that nothing was done.
    expect(changes.map(({ received }) => received()).filter((text) => text.includes(' 503 '))).toEqual([]);
    expect((await ask('third')).status).toBe(200);
  },
);

test('whose answers give way: those of who holds more than one who waits, largest first', async () => {
  const figures = createAnswerMemory({ limitBytes: 16 * MEGABYTE, waitMilliseconds: 10_000 });
  await figures.reserve({ callerId: 'a', bytes: 6 * MEGABYTE });
  await figures.reserve({ callerId: 'b', bytes: 5 * MEGABYTE });
  expect(figures.givesWay()).toEqual([]);
  const leaving = new AbortController();
  const own = figures.reserve({ callerId: 'a', bytes: 2 * MEGABYTE, signal: leaving.signal });
  await sleep(1);
  expect(figures.givesWay()).toEqual([]);
  const other = figures.reserve({ callerId: 'c', bytes: 2 * MEGABYTE, signal: leaving.signal });
  await sleep(1);
  expect(figures.givesWay()).toEqual(['a', 'b']);
  leaving.abort(new Error('gone'));
  await Promise.allSettled([own, other]);
  expect(figures.givesWay()).toEqual([]);
});
