import { readdir, readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { at } from '../../src/shared/at.js';
import { adminToken, bearer, login, openBoard, page } from '../support/admin.js';
import { makeToken } from '../support/api.js';
import { createClient, type Client } from '../support/client.js';
import { runQuire } from '../support/run-quire.js';
import { describeOnEachIndex } from '../support/each-index.js';
import type { Service } from '../support/service.js';
import { GUARDED } from '../support/shared/environments.js';
import { until } from '../support/until.js';

/** Stands in everything that is sent and is no id. */
const MARK = 'Zebrafinch';
const FOREIGN = '01234567-89ab-4cde-8f01-23456789abcd';

interface Line {
  readonly time: string;
  readonly process: string;
  readonly type: string;
  readonly action: string;
  readonly request?: string;
  readonly caller?: string;
  readonly user?: string;
  readonly status?: number;
  readonly documents?: readonly string[];
  readonly access?: unknown;
}

let service: Service;
let alice: Client;
let bob: Client;
let folder: string;

async function text(): Promise<string> {
  const names = (await readdir(folder)).sort();
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('');
}
const lines = async (): Promise<Line[]> =>
  (await text())
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
/** The one line of what was just asked for. */
async function lineOf(matches: (line: Line) => boolean): Promise<Line> {
  let found: Line[] = [];
  await until(async () => (found = (await lines()).filter(matches)).length > 0);
  expect(found).toHaveLength(1);
  return at(found, 0);
}
const about = (action: string, id: string) =>
  lineOf((line) => line.action === action && line.documents?.[0] === id);

describeOnEachIndex((start, index) => {
  beforeAll(async () => {
    service = await start({
      env: { ...GUARDED, QUIRE_AUDIT_LOG: 'true', QUIRE_API_RATE_LIMIT_PER_MINUTE: '200' },
    });
    folder = join(service.dataDirectory, 'audit');
    alice = createClient(service.url, 'alice');
    bob = createClient(service.url, 'bob');
  }, 120_000);

  afterAll(() => service.stop());

  describe('who did what with a document', () => {
    let id: string;

    beforeAll(async () => {
      const made = await alice.ingestText(`${MARK} sings at dawn`, {
        metadata: { [MARK]: MARK },
        filename: `${MARK}.txt`,
        access_control: { readers: ['bob'] },
      });
      expect(made.status).toBe(200);
      id = made.body.external_id;
    });

    test('is told of its ingest by the request, of its making with who it was shared with, and of its publication', async () => {
      expect(await about('document.ingest', id)).toMatchObject({
        caller: 'alice',
        status: 200,
        process: 'api',
      });
      expect(await about('document.created', id)).toMatchObject({
        caller: 'alice',
        owner: 'alice',
        access: { readers: { added: ['bob'] } },
      });
      const published = await about('document.published', id);
      expect(published.process).toMatch(/^worker-/);
      expect(published.caller).toBeUndefined();
    });

    test('is told of who found it, who read it and who asked about it', async () => {
      await bob.searchChunks(MARK);
      expect(await about('document.search', id)).toMatchObject({ caller: 'bob', documents: [id] });
      await bob.get(`/documents/${id}`);
      expect(await about('document.read', id)).toMatchObject({ caller: 'bob', status: 200 });
      const answer = await fetch(`${service.url}/query`, {
        method: 'POST',
        headers: { authorization: bob.authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ query: `Where does the ${MARK} sing?`, stream: true }),
      });
      await answer.text();
      expect(await about('document.query', id)).toMatchObject({ caller: 'bob', documents: [id] });
    });

    test('is told of new readers and of those who are none any more, with the request that did it', async () => {
      await alice.patch(`/documents/${id}`, { access_control: { readers: ['carol'] } });
      const asked = await about('document.change', id);
      expect(await about('document.shared', id)).toMatchObject({
        caller: 'alice',
        request: asked.request,
        access: { readers: { added: ['carol'], removed: ['alice', 'bob'] } },
      });
    });

    test('is told of callers who may not know of it', async () => {
      const { status } = await bob.get(`/documents/${id}/chunks`);
      expect(await about('document.chunks', id)).toMatchObject({ caller: 'bob', status });
      expect(status).toBeGreaterThanOrEqual(403);
      await bob.delete(`/documents/${FOREIGN}`);
      expect(await about('document.delete', FOREIGN)).toMatchObject({ caller: 'bob', status: 404 });
    });

    test('is told of the documents of a cache that a question was answered from', async () => {
      await alice.post('/cache/create', { name: MARK, model: MARK, gguf_file: MARK, docs: [id] });
      expect(await about('cache.create', id)).toMatchObject({ caller: 'alice' });
      const built = await about('cache.built', id);
      expect(built).toMatchObject({ type: 'build', caller: 'alice', documents: [id] });
      expect(built.process).toMatch(/^worker-/);
      const { status } = await alice.post(`/cache/${MARK}/query`, { query: `And the ${MARK}?` });
      expect(status).toBe(200);
      expect(await about('cache.query', id)).toMatchObject({ caller: 'alice', status: 200 });
    });

    test('is told of who opened a signed address, on whose behalf', async () => {
      const file = await alice.ingestFile(Buffer.from(`# ${MARK}\n\nIt sings ${MARK}.`), `${MARK}.md`);
      const found = await alice.searchChunks(`${MARK} sings`);
      const address =
        found.body.find(({ document_id: each }) => each === file.body.external_id)?.download_url ?? '';
      expect((await fetch(address)).status).toBe(200);
      const line = await about('document.open_link', file.body.external_id);
      expect(line).toMatchObject({ user: 'alice', status: 200 });
      expect(line.caller).toBeUndefined();
    });

    test('is told of each line of a stream of documents', async () => {
      const body = [`{"content":"${MARK} one"}`, `{"content":"${MARK} two"}`].join('\n');
      const headers = { 'content-type': 'application/x-ndjson', authorization: alice.authorization };
      const answer = await fetch(`${service.url}/ingest/batch`, { method: 'POST', headers, body });
      const made = (await answer.text())
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { document_id: string }).document_id);
      const line = await about('document.ingest', made[0] ?? '');
      expect(line.documents).toEqual(made);
      for (const each of made)
        expect(await about('document.created', each)).toMatchObject({ caller: 'alice' });
    });

    test('is told of the page for people, and of who logs in there', async () => {
      const { cookie } = await login(service.url, makeToken({ entity_id: 'alice' }), { realm: 'view' });
      expect(await lineOf(({ action }) => action === 'view.login')).toMatchObject({
        caller: 'alice',
        status: 303,
      });
      await fetch(`${service.url}/view/${id}?chunk=0`, { headers: { cookie } });
      expect(await about('document.view', id)).toMatchObject({ caller: 'alice', status: 200 });
      expect(await text()).not.toContain('chunk=0');
    });

    test('is told of what operators do on its page', async () => {
      const olga = bearer(adminToken());
      await fetch(`${service.url}/admin/documents/${id}`, { headers: olga });
      expect(await about('admin.document_read', id)).toMatchObject({ caller: 'olga', status: 200 });
      await fetch(`${service.url}/admin/documents/${id}/delete`, { method: 'POST', headers: olga });
      expect(await about('admin.document_delete', id)).toMatchObject({ caller: 'olga' });
      expect(await about('document.removed', id)).toMatchObject({ caller: 'olga', owner: 'alice' });
    });
  });

  describe('the log of what operators do', () => {
    test('has their logins, those that failed too, and the queue board', async () => {
      await login(service.url, `${MARK}.${MARK}.${MARK}`);
      await lineOf(({ action, caller }) => action === 'admin.login' && caller === undefined);
      const { cookie } = await login(service.url, adminToken());
      expect(
        await lineOf(({ action, caller }) => action === 'admin.login' && caller === 'olga'),
      ).toMatchObject({
        status: 303,
      });
      await openBoard(service.url, cookie);
      await fetch(`${service.url}/admin/queues`, { headers: page });
      await until(async () =>
        (await lines()).some(({ action, caller }) => action === 'admin.queues' && caller === 'olga'),
      );
    });

    test('has the user that a token is made for', async () => {
      const form = new URLSearchParams({ name: 'dora', password_token: GUARDED.LOCAL_URI_PASSWORD });
      await fetch(`${service.url}/local/generate_uri`, { method: 'POST', body: form });
      expect(await lineOf(({ action }) => action === 'token.create')).toMatchObject({
        user: 'dora',
        status: 200,
      });
    });

    test('has requests that came too fast', async () => {
      const erik = createClient(service.url, 'erik');
      await Promise.all(Array.from({ length: 201 }, () => erik.get('/usage/stats')));
      await until(async () =>
        (await lines()).some(({ caller, status }) => caller === 'erik' && status === 429),
      );
    });
  });

  describe('commands on the machine itself', () => {
    const SECRET = { JWT_SECRET_KEY: 'a secret of more than thirty-two bytes' };
    const quire = (...args: readonly string[]) =>
      runQuire(args, {
        ...SECRET,
        REDIS_URL: service.redis.url,
        QUIRE_DATA_DIR: service.dataDirectory,
        QUIRE_AUDIT_LOG: 'true',
        QUIRE_INDEX: index,
      });
    const command = (action: string) => lineOf((line) => line.action === action);

    test('leave a line with the account that gave them', async () => {
      expect(await quire('token', '--name', 'frida')).toMatchObject({ code: 0 });
      const { username } = userInfo();
      const token = { type: 'command', process: 'cli', account: username, user: 'frida', succeeded: true };
      expect(await command('command.token')).toMatchObject(token);
      expect(await quire('reindex')).toMatchObject({ code: 0 });
      expect(await command('command.reindex')).toMatchObject({ account: username, succeeded: true });
    });

    test('that give documents away leave a line of each, too', async () => {
      const { body } = await createClient(service.url, 'hanna').ingestText(`${MARK} of hanna`);
      const given = await quire('documents', 'give', '--from', 'hanna', '--to', 'ines');
      expect(given).toEqual({ code: 0, stdout: '1 document of hanna now belongs to ines.\n', stderr: '' });
      const both = { added: ['ines'], removed: ['hanna'] };
      expect(await command('document.given')).toMatchObject({
        type: 'change',
        process: 'cli',
        documents: [body.external_id],
        owner: 'ines',
        access: { readers: both, writers: both, admins: both },
      });
      expect(await command('command.give')).toMatchObject({ user: 'ines', from: 'hanna', succeeded: true });
      const about = await quire('audit', '--caller', 'hanna', '--action', 'command');
      expect(about.stdout.trim().split('\n')).toEqual([expect.stringContaining('"command.give"')]);
    });

    test('leave a line also where they fail', async () => {
      const place = join(service.dataDirectory, `backup-${MARK}`);
      expect(await quire('backup', place)).toMatchObject({ code: 0 });
      expect(await command('command.backup')).toMatchObject({ succeeded: true });
      // This Redis holds documents.
      expect(await quire('restore', place)).toMatchObject({ code: 1 });
      expect(await command('command.restore')).toMatchObject({ succeeded: false });
    });

    test('do not begin where a log that is required cannot be written', async () => {
      const env = {
        QUIRE_AUDIT_LOG: 'true',
        QUIRE_AUDIT_REQUIRED: 'true',
        QUIRE_AUDIT_FOLDER: '/dev/null/audit',
      };
      const { code, stdout, stderr } = await runQuire(['token', '--name', 'gerd'], { ...SECRET, ...env });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain('The audit log cannot be written');
    });
  });

  describe('the files', () => {
    test('hold nothing of what was sent or answered but ids', async () => {
      // Also where it is refused.
      await alice.get(`/documents/${MARK}?${MARK}=${MARK}`);
      await alice.get(`/documents?q=${MARK}&filters=${encodeURIComponent(JSON.stringify({ [MARK]: MARK }))}`);
      await alice.post('/retrieve/docs', { query: MARK, filters: { [MARK]: MARK }, [MARK]: MARK });
      await alice.send('GET', `/documents/${FOREIGN}`, {
        headers: { 'user-agent': MARK, referer: `http://${MARK}/`, 'x-request-id': 'the-last' },
      });
      await lineOf(({ request }) => request === 'the-last');
      const all = await text();
      expect(all.toLowerCase()).not.toContain(MARK.toLowerCase());
      for (const secret of Object.values(GUARDED)) if (secret.length > 8) expect(all).not.toContain(secret);
      expect(all).not.toContain('eyJ');
    });

    test('can be read by who runs the service alone', async () => {
      for (const name of await readdir(folder))
        expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    });

    test('are printed by `npx quire audit`, of API and workers in the order of time', async () => {
      const env = { QUIRE_DATA_DIR: service.dataDirectory };
      const { stdout } = await runQuire(['audit', '--caller', 'olga', '--action', 'admin'], env);
      const printed = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Line);
      expect(new Set(printed.map(({ caller }) => caller))).toEqual(new Set(['olga']));
      const all = await runQuire(['audit'], env);
      const times = all.stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as Line).time);
      expect(times).toEqual([...times].sort());
      expect(times.length).toBeGreaterThan(200);
    });
  });
});
