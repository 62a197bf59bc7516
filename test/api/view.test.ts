import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createSessions } from '../../src/api/browser/sessions.js';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { adminToken, bearer, cookieHeader, csrfIn, form, login, page } from '../support/admin.js';
import { inSeconds, makeToken, SECRET } from '../support/api.js';
import { ask, cookiesOf, type Answer } from '../support/ask.js';
import { browserTest, visit } from '../support/browser.js';
import type { Client } from '../support/client.js';
import { drawPdf } from '../support/drawn-pdf.js';
import { GUARDED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { until } from '../support/until.js';

const service = useService({ env: GUARDED });
const answersSchema = z.object({ sources: z.array(z.object({ document_id: z.string(), url: z.string() })) });
const NOBODY = '01234567-89ab-4cde-8f01-23456789abcd';

let redis: Redis;
let alice: Client;
/** A text, and a PDF of two pages. */
let text = '';
let manual = '';

const tokenOf = (name: string, claims = {}) => makeToken({ entity_id: service.caller(name), ...claims });
const get = (path: string, headers: Record<string, string> = {}) =>
  ask(path.startsWith('http') ? path : service.url + path, { headers: { ...page, ...headers } });
const asUser = (name: string) => bearer(tokenOf(name));
const loginWith = (token: string, options = {}) => login(service.url, token, { realm: 'view', ...options });
const marksIn = ({ text: html }: Answer) =>
  [...html.matchAll(/<mark>(.*?)<\/mark>/gs)].map(([, mark]) => mark);

const lines = (...shown: readonly string[]) => ({
  width: 400,
  height: 300,
  content: `BT/F1 14 Tf\n${shown.map((line, i) => `1 0 0 1 40 ${String(240 - 30 * i)} Tm(${line})Tj`).join('\n')}\nET`,
});

beforeAll(async () => {
  redis = createRedis(service.redis.url, { failFast: true, onError: () => undefined });
  await redis.connect();
  alice = service.client('alice');
  const pdf = drawPdf({ pages: [lines('The pump has a red lever.'), lines('The valve is made of brass.')] });
  const stored = await alice.ingestFile(pdf, 'manual.pdf', { prefer: 'wait=60' });
  const words = await alice.ingestText(
    'The barn is old. The owl nests in its eastern gable. It hunts at dusk.',
    {
      filename: 'owls.txt',
    },
  );
  expect([stored.status, words.status]).toEqual([200, 200]);
  [manual, text] = [stored.body.external_id, words.body.external_id];
}, 90_000);

afterAll(() => {
  redis.destroy();
});

async function sourceOf(query: string): Promise<{ document_id: string; url: string }> {
  const { body } = await alice.post('/query', { query, k: 1 });
  const [source] = answersSchema.parse(body).sources;
  if (!source) throw new Error('nothing was found');
  return source;
}

describe('the url of an answer', () => {
  test('leads to the very sentence, with its place, and to what is around it', async () => {
    const source = await sourceOf('Where does the owl nest?');
    expect(source.document_id).toBe(text);
    const shown = await get(source.url, asUser('alice'));
    expect(shown.status).toBe(200);
    expect(marksIn(shown)).toEqual(['The owl nests in its eastern gable.']);
    for (const words of [
      'owls.txt',
      service.caller('alice'),
      '1 of 1',
      'It hunts at dusk.',
      `/view/${text}/download`,
    ])
      expect(shown.text).toContain(words);
    expect(shown.text).not.toContain('<img');
  });

  test('shows the page of a file that has pages, with the quote marked', async () => {
    const source = await sourceOf('What is the valve made of?');
    const shown = await get(source.url, asUser('alice'));
    expect(marksIn(shown)).toEqual(['The valve is made of brass.']);
    const [, picture = ''] = /<img src="([^"]+)"/.exec(shown.text) ?? [];
    expect(picture).toMatch(new RegExp(`^/view/${manual}/pages/2\\.png\\?highlight=\\d+:\\d+-\\d+$`));
    expect(shown.text).toContain('alt="Page 2 of manual.pdf, with the quote marked"');
    const answer = await get(picture, asUser('alice'));
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'content-type': 'image/png', 'cache-control': 'private, no-cache' },
    });
  });

  test('needs no script, and says nothing to caches, other pages and other sites', async () => {
    const { headers, text: html } = await get(`/view/${text}?chunk=0`, {
      ...asUser('alice'),
      Origin: 'http://127.0.0.1:1',
    });
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action/,
    );
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(html).not.toContain('<script');
    const head = await ask(`${service.url}/view/${text}`, {
      method: 'HEAD',
      headers: { ...page, ...asUser('alice') },
    });
    expect(head).toMatchObject({ status: 200, text: '' });
  });

  test('shows names and texts as they are, whatever they look like', async () => {
    const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script> & "quoted" <mark>no mark</mark>';
    const { body } = await alice.ingestText(`${hostile} of the heron.`, {
      filename: `"><svg onload=alert(3)>.txt`,
    });
    const { text: html } = await get(`/view/${body.external_id}?chunk=0&quote=0-4`, asUser('alice'));
    expect(html).toContain('<mark>&lt;img</mark> src=x onerror=alert(1)&gt;&lt;script&gt;');
    expect(html).toContain('&quot;&gt;&lt;svg onload=alert(3)&gt;.txt');
    for (const tag of ['<script', '<svg', '<img', '<mark>no']) expect(html).not.toContain(tag);
  });

  test('never marks half a character', async () => {
    const { body } = await alice.ingestText('A \u{1f989} sits there.');
    const shown = await get(`/view/${body.external_id}?chunk=0&quote=3-3`, asUser('alice'));
    expect(marksIn(shown)).toEqual(['\u{1f989}']);
  });
});

describe('the parts of a document', () => {
  const sentences = Array.from(
    { length: 400 },
    (_, i) => `Sentence ${String(i)} tells of a ship called ${String(i)}.`,
  );
  let long = '';
  beforeAll(async () => {
    long = (await alice.ingestText(sentences.join('\n'))).body.external_id;
  });

  test('lead to those before and after, and repeat nothing', async () => {
    const { text: html } = await get(`/view/${long}?chunk=1`, asUser('alice'));
    expect(html).toContain(`<a href="/view/${long}?chunk=0">Previous part</a>`);
    expect(html).toContain(`<a href="/view/${long}?chunk=2">Next part</a>`);
    const told = [...html.matchAll(/Sentence (\d+) tells/g)].map(([, number]) => Number(number));
    expect(told).toEqual([...new Set(told)]);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    const first = await get(`/view/${long}`, asUser('alice'));
    expect(first.text).toContain('Sentence 0 tells');
    expect(first.text).not.toContain('Previous part');
  });

  test.each([
    ['chunk=9999', 'Sentence 0 tells'],
    ['chunk=0&quote=99999-100000', 'Sentence 0 tells'],
  ])('that are gone (%s) are told of, and the beginning is shown', async (query, beginning) => {
    const shown = await get(`/view/${long}?${query}`, asUser('alice'));
    expect(shown.status).toBe(200);
    expect(shown.text).toContain('The document has changed');
    expect(shown.text).toContain(beginning);
    expect(marksIn(shown)).toEqual([]);
  });

  test.each(['chunk=x', 'chunk=-1', 'chunk=0:1-2', 'chunk=0&quote=1', 'chunk=0&quote=a-b'])(
    'are named by numbers alone: %s',
    async (query) => {
      expect((await get(`/view/${long}?${query}`, asUser('alice'))).status).toBe(422);
      const plain = await ask(`${service.url}/view/${long}?${query}`, { headers: asUser('alice') });
      const loc = ['query', query.includes('&') ? 'quote' : 'chunk'];
      expect(JSON.parse(plain.text)).toMatchObject({ detail: [{ loc }] });
    },
  );
});

describe('another user', () => {
  const paths = (id: string) => [`/view/${id}?chunk=0`, `/view/${id}/pages/1.png`, `/view/${id}/download`];

  test('is shown nothing, by a token or by a session', async () => {
    const { cookie } = await loginWith(tokenOf('mallory'));
    for (const headers of [asUser('mallory'), { Cookie: cookie }]) {
      const answers = await Promise.all(paths(manual).map((path) => get(path, headers)));
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
      expect(answers[0]?.text).toContain('You may not see this');
      expect(answers[0]?.text).toContain('href="/view/login"');
      for (const { text: told } of answers) expect(told).not.toMatch(/manual|valve|brass/);
      const unknown = await Promise.all(paths(NOBODY).map((path) => get(path, headers)));
      expect(unknown.map(({ status }) => status)).toEqual([404, 404, 404]);
      expect(unknown[0]?.text).toContain('There is no such document');
    }
    expect((await get('/view/nonsense', asUser('mallory'))).status).toBe(404);
  });

  test('sees it as soon as it is shared, and as long', async () => {
    const { body } = await alice.ingestText('The shared shed is green.');
    const path = `/view/${body.external_id}?chunk=0`;
    const share = (readers: string[]) =>
      alice.patch(`/documents/${body.external_id}`, { access_control: { readers } });
    const { cookie } = await loginWith(tokenOf('bob'));
    const status = async () => (await get(path, { Cookie: cookie })).status;
    expect(await status()).toBe(403);
    await share([service.caller('bob')]);
    expect(await status()).toBe(200);
    await share([]);
    expect(await status()).toBe(403);
  });

  test('needs the permission to read', async () => {
    const headers = bearer(tokenOf('alice', { permissions: ['write'] }));
    expect((await get(`/view/${text}`, headers)).status).toBe(403);
    const { answer } = await loginWith(tokenOf('alice', { permissions: ['write'] }));
    expect(answer).toMatchObject({ status: 403 });
    expect(answer.text).toContain('lacks the read permission');
  });
});

describe('without a token', () => {
  test('a browser is asked for one, at the same address, and comes back to it', async () => {
    const wanted = `/view/${text}?chunk=0&quote=0-16`;
    const asked = await get(wanted);
    expect(asked).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
    expect(asked.text).not.toContain('owl');
    expect(asked.text).toContain(`name="next" value="/view/${text}?chunk=0&amp;quote=0-16"`);
    const fields = { token: tokenOf('alice'), csrf: csrfIn(asked), next: wanted };
    const sent = form(fields, { Cookie: cookieHeader(asked), Origin: service.url });
    const answer = await ask(`${service.url}/view/login`, sent);
    expect(answer).toMatchObject({ status: 303, headers: { location: wanted } });
    expect(marksIn(await get(wanted, { Cookie: cookieHeader(asked, answer) }))).toEqual(['The barn is old.']);
  });

  test('a program gets JSON, and a picture no form', async () => {
    const plain = await ask(`${service.url}/view/${text}`);
    expect(plain).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
    expect(JSON.parse(plain.text)).toEqual({ detail: 'Invalid authentication credentials' });
    const picture = await get(`/view/${manual}/pages/1.png`);
    expect([picture.status, picture.text.includes('<form')]).toEqual([401, false]);
  });

  test('no method but reading is known', async () => {
    const answer = await ask(`${service.url}/view/${text}`, { method: 'POST', headers: asUser('alice') });
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });
});

describe('a session', () => {
  test('is a cookie that scripts cannot read, that goes to /view only and opens nothing else', async () => {
    const { answer, cookie } = await loginWith(tokenOf('alice'));
    const { attributes } = cookiesOf(answer).get('quire_view') ?? { attributes: [] };
    expect(attributes).toEqual(expect.arrayContaining(['httponly', 'samesite=lax', 'path=/view']));
    expect(cookiesOf(answer).has('XSRF-TOKEN')).toBe(false);
    for (const path of [`/view/${manual}`, `/view/${manual}/pages/2.png`, `/view/${manual}/download`])
      expect((await get(path, { Cookie: cookie })).status).toBe(200);
    const value = /quire_view=([^;]+)/.exec(cookie)?.[1] ?? '';
    for (const headers of [{ Cookie: cookie }, bearer(value), { Cookie: `quire_admin=${value}` }])
      for (const path of [
        `/documents/${manual}`,
        `/documents/${manual}/pages/2.png`,
        '/admin/queues/api/queues',
      ])
        expect((await ask(service.url + path, { headers })).status).toBe(401);
  });

  test('of an operator shows no document', async () => {
    const { cookie } = await login(service.url, adminToken());
    const value = /quire_admin=([^;]+)/.exec(cookie)?.[1] ?? '';
    for (const given of [cookie, `quire_view=${value}`])
      expect((await get(`/view/${text}`, { Cookie: given })).status).toBe(401);
  });

  test('ends with its token, with its secret, and by hand', async () => {
    const { cookie } = await loginWith(tokenOf('alice', { exp: inSeconds(2) }));
    expect((await get(`/view/${text}`, { Cookie: cookie })).status).toBe(200);
    await until(async () => (await get(`/view/${text}`, { Cookie: cookie })).status === 401);

    const previous = GUARDED.JWT_SECRET_KEY_PREVIOUS;
    const old = makeToken({ entity_id: service.caller('alice') }, { secret: previous });
    const { cookie: older } = await loginWith(old);
    const sealed = /quire_view=([^;]+)/.exec(older)?.[1];
    const opens = (...secrets: [string, ...string[]]) =>
      createSessions({ realm: 'view', secrets, redis }).open(sealed);
    expect(await opens(SECRET, previous)).toMatchObject({ callerId: service.caller('alice') });
    expect(await opens(SECRET)).toBeNull();

    const { cookie: mine } = await loginWith(tokenOf('alice'));
    const shown = await get('/view/login', { Cookie: mine });
    const left = form({ csrf: csrfIn(shown) }, { Cookie: mine, Origin: service.url });
    expect(await ask(`${service.url}/view/logout`, left)).toMatchObject({ status: 303 });
    expect((await get(`/view/${text}`, { Cookie: mine })).status).toBe(401);
  });

  test.each([
    'https://evil.example/',
    '//evil.example/view/x',
    '/\\evil.example',
    '/view/../documents',
    '/admin/queues',
  ])('does not lead to %s', async (next) => {
    const { answer } = await loginWith(tokenOf('alice'), { next });
    expect(answer).toMatchObject({ status: 303, headers: { location: '/view/login' } });
  });

  test.each([{ 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }, { Origin: 'null' }])(
    'is not begun by forms of other pages: %j',
    async (headers) => {
      const { answer } = await loginWith(tokenOf('alice'), { headers });
      expect(answer.status).toBe(403);
      expect(cookiesOf(answer).has('quire_view')).toBe(false);
    },
  );

  test('is not begun without the token of our own form, nor with a wrong one', async () => {
    const blind = form({ token: tokenOf('alice') }, { Origin: service.url });
    expect((await ask(`${service.url}/view/login`, blind)).status).toBe(403);
    await redis.del(keys.guesses('signed-token', '127.0.0.1'));
    const { answer } = await loginWith('nonsense');
    expect(answer).toMatchObject({ status: 401 });
    expect(answer.text).toContain('not valid');
  });
});

browserTest(
  'in a browser, a user logs in and follows the url of an answer to its marked sentence',
  async () => {
    const { url } = await sourceOf('What is the valve made of?');
    await visit(service.url, async (tab) => {
      await tab.goto(`${service.url}/view/login?next=${encodeURIComponent(url.slice(service.url.length))}`);
      await tab.getByLabel('Access token').fill(tokenOf('alice'));
      await tab.getByRole('button', { name: 'Log in' }).click();
      await tab.waitForURL(url);
      expect(await tab.locator('mark').allTextContents()).toEqual(['The valve is made of brass.']);
      const picture = tab.getByRole('img', { name: /^Page 2 of manual.pdf/ });
      await picture.scrollIntoViewIfNeeded();
      await until(async () => Number(await tab.evaluate('document.images[0].naturalWidth')) > 100);
    });
  },
  180_000,
);
