import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { keys } from '../../src/shared/redis/keys.js';
import { linesOf, ndjson, outcomesOf, type WireOutcome } from '../support/batches.js';
import { createClient } from '../support/client.js';
import type { Service } from '../support/service.js';
import { COMMANDS, startTwoServices, whenFree, type TwoServices } from '../support/two-services.js';

let services: TwoServices;
let first: Service;
let second: Service;

beforeAll(async () => {
  services = await startTwoServices();
  ({ first, second } = services);
}, 180_000);
afterAll(() => services.stop());

const COUNT = 300;
/** In the second of the groups that are written one after the other. */
const HELD = 200;
const texts = Array.from({ length: COUNT }, (_, i) => ({ content: `The heron number ${String(i)} waits.` }));
const MARK = `number ${String(HELD)} waits`;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly outcomes: readonly WireOutcome[];
}

type Send = (url: string) => Promise<Answer>;

const post = async (url: string, init: RequestInit): Promise<Answer> => {
  const { status, headers, body } = await fetch(url, { method: 'POST', ...init }).then(async (response) => ({
    status: response.status,
    headers: response.headers,
    body: await response.text(),
  }));
  const isList = headers.get('content-type')?.startsWith('application/json') === true;
  if (status >= 300) return { status, headers, outcomes: [] };
  return { status, headers, outcomes: isList ? outcomesOf(JSON.parse(body)) : linesOf(body) };
};

function senders(user: string): Record<'json' | 'lines' | 'form', Send> {
  const { authorization } = createClient('', user);
  const headers = {
    authorization,
    'idempotency-key': randomUUID(),
    prefer: 'wait=120',
  };
  return {
    json: (url) =>
      post(`${url}/ingest/batch`, {
        body: JSON.stringify({ documents: texts }),
        headers: { ...headers, 'content-type': 'application/json' },
      }),
    lines: (url) =>
      post(`${url}/ingest/batch`, {
        body: ndjson(texts),
        headers: { ...headers, 'content-type': 'application/x-ndjson' },
      }),
    form: (url) => {
      const form = new FormData();
      for (const { content } of texts.slice(0, 90)) form.append('files', new Blob([content]), 'heron.txt');
      return post(`${url}/ingest/files`, { body: form, headers });
    },
  };
}

/** The ids of a user's documents. */
async function writtenBy(user: string): Promise<string[]> {
  const members = await services.redis.zRange(keys.contentHashes(user), 0, -1);
  return members.map((member) => member.slice(member.indexOf(':') + 1));
}

/** Every item is one document, found and counted once. */
async function expectWhole(user: string, answer: Answer, count: number): Promise<void> {
  expect(answer.status).toBe(200);
  expect(answer.outcomes.map(({ index, status }) => [index, status])).toEqual(
    Array.from({ length: count }, (_, i) => [i, 'completed']),
  );
  const ids = answer.outcomes.map(({ document_id: id }) => id);
  expect([...(await writtenBy(user))].sort()).toEqual([...ids].sort());
  const stats = await createClient(second.url, user).get<Record<string, number>>('/usage/stats');
  expect(Object.values(stats.body)).toEqual([count]);
}

const ended = (answer: Promise<unknown>) => answer.catch(() => null);

const { writesRecord: WRITES_RECORD, remembersAnswer: REMEMBERS } = COMMANDS;

test.each<['json' | 'lines' | 'form', string, number]>([
  ['json', MARK, 128],
  ['lines', MARK, 1],
  ['form', WRITES_RECORD, 0],
  ['json', REMEMBERS, COUNT],
  ['form', REMEMBERS, 90],
])(
  'the API is killed in the middle of a batch (%s, at %s): the same key finishes it',
  async (way, word, least) => {
    const user = `killed-${way}-${String(least)}`;
    const send = senders(user)[way];
    const gate = services.proxy.hold(word);
    const lost = ended(send(first.url));
    await gate.held;
    const before = await writtenBy(user);
    expect(before.length).toBeGreaterThanOrEqual(least);
    if (word === MARK) expect(before.length).toBeLessThan(COUNT);
    await services.restartFirst();
    gate.release();
    await lost;
    const again = await whenFree(() => send(first.url), services.endLeases);
    const count = way === 'form' ? 90 : COUNT;
    await expectWhole(user, again, count);
    expect(again.headers.get('idempotent-replayed')).toBe(before.length > 0 ? 'true' : null);
    expect(before.filter((id) => !again.outcomes.some(({ document_id: of }) => of === id))).toEqual([]);
    await expectWhole(user, await send(second.url), count);
  },
  180_000,
);

test('a process that is frozen in a batch writes nothing once another one has taken the key over', async () => {
  const user = 'frozen';
  const { json } = senders(user);
  const gate = services.proxy.hold(MARK);
  const late = json(first.url);
  await gate.held;
  first.api.child.kill('SIGSTOP');
  const taken = await whenFree(() => json(second.url), services.endLeases);
  await expectWhole(user, taken, COUNT);
  gate.release();
  first.api.child.kill('SIGCONT');
  // It may notice first that Redis was silent for long.
  expect([409, 503, 202]).toContain((await late).status);
  await first.untilReady();
  await expectWhole(user, await json(first.url), COUNT);
}, 180_000);

test('two processes asked at once make each document once', async () => {
  const user = 'both';
  const { json } = senders(user);
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, i) => json(i % 2 ? first.url : second.url)),
  );
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
  for (const { status } of answers) expect([200, 409]).toContain(status);
  await expectWhole(user, await json(first.url), COUNT);
}, 180_000);
