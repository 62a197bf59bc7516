import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from '../support/client.js';
import { LIMITED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { canMeterTurns, longestTurnOf } from '../support/turns.js';

const MAX_BYTES = 8 * 1024 ** 2;
/**
 * The promise is 50 ms of a turn; shared machines take some more of the processor for the same work. Read in the event loop
 * itself, some of these take 140.
 */
const TURN_MILLISECONDS = 100;

const service = useService({ env: LIMITED });
/** Texts are stored here; nobody waits for what becomes of them. */
const prefer = { prefer: 'wait=0' };
let client: Client;

beforeAll(async () => {
  client = service.client('alice');
  // Whatever is compiled or loaded at first use.
  for (let n = 0; n < 5; n += 1)
    await client.post('/ingest/text', { content: `${String(n)} `.repeat(300_000) }, prefer);
});

const fill = (unit: string, around: (text: string) => string) =>
  around(unit.repeat(Math.floor((MAX_BYTES - around('').length) / Buffer.byteLength(unit))));
const list = (item: string, around: (items: string) => string) =>
  fill(`${item},`, (items) => around(items.replace(/,$/, '')));
const content = (text: string) => `{"content":"${text}"}`;
const readers = (items: string) => `{"content":"x","access_control":{"readers":[${items}]}}`;
const docs = (items: string) => `{"name":"a","model":"b","gguf_file":"c","docs":[${items}]}`;
const metadata = (items: string) => `{"content":"x","metadata":{"a":[${items}]}}`;
const ids = Array.from(
  { length: 100_000 },
  (_, n) => `"00000000-0000-4000-8000-${String(n).padStart(12, '0')}"`,
);

const bodies: [name: string, path: string, body: string, status: number][] = [
  ['a text', '/ingest/text', fill('word ', content), 202],
  ['a text of blanks', '/ingest/text', fill(' ', content), 422],
  ['a text of escaped quotes', '/ingest/text', fill('\\"', content), 202],
  ['a text of escaped letters', '/ingest/text', fill('\\u0041', content), 202],
  ['a text of escaped halves of pairs', '/ingest/text', fill('\\ud83d', content), 202],
  ['a text of letters of three bytes', '/ingest/text', fill('語', content), 202],
  ['a text of pairs', '/ingest/text', fill('😀', content), 202],
  ['a list of numbers', '/ingest/text', list('1', metadata), 422],
  ['a list of empty lists', '/ingest/text', list('[]', metadata), 422],
  ['a list of empty objects', '/ingest/text', list('{}', metadata), 422],
  ['a list of empty texts', '/ingest/text', list('""', metadata), 422],
  ['an access list of numbers', '/ingest/text', list('1', readers), 422],
  ['an access list of 200,000 numbers', '/ingest/text', readers(Array(199_000).fill('1').join()), 422],
  ['a list of 199,000 empty lists', '/ingest/text', metadata(Array(199_000).fill('[]').join()), 422],
  ['100,000 unknown documents', '/cache/create', docs(ids.join()), 404],
  ['100,000 documents that are numbers', '/cache/create', docs(Array(100_000).fill('1').join()), 422],
  ['199,000 texts as documents', '/cache/create', docs(Array(199_000).fill('"x"').join()), 422],
  ['nothing but blanks', '/ingest/text', ' '.repeat(MAX_BYTES), 422],
  [
    '10,000 keys',
    '/ingest/text',
    `{${Array.from({ length: 9_999 }, (_, n) => `"${String(n).padStart(800, 'k')}":1`).join()}}`,
    422,
  ],
];

describe('a body of 8 MiB holds up the event loop no longer than a small one:', () => {
  test.each(bodies)('%s', async (_name, path, body, status) => {
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_BYTES);
    const ask = async () => {
      const answer = await fetch(service.url + path, {
        method: 'POST',
        body,
        headers: { ...prefer, 'content-type': 'application/json', authorization: client.authorization },
      });
      await answer.text();
      return answer.status;
    };
    const during = async () => {
      expect(await Promise.all([ask(), ask(), ask()])).toEqual([status, status, status]);
    };
    const turn = await longestTurnOf(service.longestTurn, { during, enough: TURN_MILLISECONDS });
    expect(turn).toBeLessThan(TURN_MILLISECONDS);
    if (canMeterTurns) expect(turn).toBeGreaterThan(0);
  });
});

/** Beside a file, the largest that a field of a form may be. */
const MAX_FIELD_BYTES = 4 * 1024 ** 2 - 200;
const filled = (unit: string, before: string, after: string) =>
  before + unit.repeat(MAX_FIELD_BYTES / unit.length) + after;

test.each([
  ['a text of escaped quotes', filled('\\"', '{"readers":["', '"]}'), 422],
  ['a list of empty lists', filled('[],', '{"readers":[', '0]}'), 400],
  ['lists within lists', filled('[', '{"readers":', ''), 400],
  ['blanks', filled(' ', '{', '}'), 202],
])('nor does a field of 4 MiB beside a file: %s', async (_name, field, status) => {
  const form = new FormData();
  form.set('access_control', field);
  form.set('file', new Blob(['Some text.']), 'a.txt');
  const during = async () => {
    expect((await client.send('POST', '/ingest/file', { body: form, headers: prefer })).status).toBe(status);
  };
  const turn = await longestTurnOf(service.longestTurn, { during, enough: TURN_MILLISECONDS });
  expect(turn).toBeLessThan(TURN_MILLISECONDS);
});

test('the largest search that is legal is read in whatever way it is written, and no larger one', async () => {
  const escaped = (text: string) =>
    text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const ids = Array.from({ length: 1_000 }, (_, n) => escaped(String(n).padStart(256, 'x')));
  const query = escaped('\u{1f600}'.repeat(32_768));
  const body = `{"query":"${query}","filters":{"${escaped('user')}":{"${escaped('$in')}":["${ids.join('", "')}"]}}}`;
  expect(Buffer.byteLength(body)).toBeGreaterThan(1.8 * 1024 ** 2);
  const send = (text: string) =>
    client.send('POST', '/retrieve/chunks', { body: text, headers: { 'content-type': 'application/json' } });
  expect((await send(body)).status).toBe(200);
  expect((await send(`${body}${' '.repeat(200_000)}`)).status).toBe(413);
});
