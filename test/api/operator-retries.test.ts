import { describe, expect, test } from '@jest/globals';
import { createClient as connect } from 'redis';
import { jobMarks } from '../../src/shared/queues/job-kinds.js';
import { openQueue } from '../../src/shared/queues/lanes.js';
import { queueKeys } from '../../src/shared/redis/keys.js';
import { adminToken, bearer, cookieHeader, csrfIn, form, login, page } from '../support/admin.js';
import { makeToken } from '../support/api.js';
import { ask } from '../support/ask.js';
import { GUARDED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { until } from '../support/until.js';

const service = useService({ env: GUARDED });

const LANE = 'ingestion-quick';
const owner = bearer(makeToken({ entity_id: 'alice' }));
const admin = bearer(adminToken());

async function ask200(path: string, options: Parameters<typeof ask>[1] = {}) {
  const { status, text } = await ask(service.url + path, options);
  expect([path, status, text]).toEqual([path, 200, text]);
  return JSON.parse(text) as Record<string, unknown>;
}

const put = (path: string) => ask200(`/admin/queues/api/queues/${path}`, { method: 'PUT', headers: admin });

async function ingest(filename: string): Promise<string> {
  const { status, text } = await ask(`${service.url}/ingest/text`, {
    method: 'POST',
    headers: { ...owner, 'Content-Type': 'application/json', Prefer: 'respond-async' },
    body: JSON.stringify({ content: 'Nine sealed barrels lie in the cellar.', filename }),
  });
  expect(status).toBe(202);
  return (JSON.parse(text) as { external_id: string }).external_id;
}

const inspect = (id: string) =>
  ask200(`/admin/documents/${id}`, { headers: { ...admin, Accept: 'application/json' } });
const untilStatus = (id: string, status: string) =>
  until(async () => (await inspect(id))['status'] === status);

interface BoardJob {
  readonly status: string;
  readonly job: { readonly data: Record<string, unknown> };
}
const boardJob = async (id: string) =>
  (await ask200(`/admin/queues/api/queues/${LANE}/${id}`, { headers: admin })) as unknown as BoardJob;

/** While the lane is paused, its jobs are made such as workers have died of. Resolves with the ids of its documents. */
async function makePoison(...filenames: string[]): Promise<string[]> {
  await put(`${LANE}/pause`);
  const redis = await connect({ url: service.redis.url }).connect();
  const ids: string[] = [];
  try {
    for (const filename of filenames) {
      const id = await ingest(filename);
      ids.push(id);
      const key = queueKeys.job(LANE, `ingest-${id}-1-1`);
      await until(async () => (await redis.exists(key)) === 1);
      expect((await boardJob(`ingest-${id}-1-1`)).job.data).toMatchObject({
        documentId: id,
        filename,
        waits: 'the queue is paused',
      });
      await redis.hSet(key, { stc: '1', [jobMarks.deathsAlone]: '2' });
    }
  } finally {
    redis.destroy();
    await put(`${LANE}/resume`);
  }
  // The document fails a moment before its job.
  for (const id of ids) await until(async () => (await boardJob(`ingest-${id}-1-1`)).status === 'failed');
  return ids;
}

async function failedJobs(): Promise<number> {
  const queue = openQueue(LANE, { url: service.redis.url });
  try {
    return await queue.getFailedCount();
  } finally {
    await queue.close();
  }
}

describe('a job that has killed its workers', () => {
  test('says what a retry on the board will do, and "Retry all" ingests its document', async () => {
    const ids = await makePoison('cellar.md', 'attic.md');
    for (const id of ids) {
      const { data } = (await boardJob(`ingest-${id}-1-1`)).job;
      expect(data['retry']).toBe(
        'tries the document again as attempt 2; it fails again when 3 workers die of it',
      );
      expect(data['waits']).toBeUndefined();
    }
    expect(await put(`${LANE}/retry/failed`)).toEqual({ retried: 2, skipped: 0 });
    for (const id of ids) {
      await untilStatus(id, 'completed');
      expect(await inspect(id)).toMatchObject({ attempt: 2, published_version: 1 });
    }
    expect(await failedJobs()).toBe(0);
  });

  test('is retried by its own button', async () => {
    const [id = ''] = await makePoison('vault.md');
    const { status } = await ask(`${service.url}/admin/queues/api/queues/${LANE}/ingest-${id}-1-1/retry`, {
      method: 'PUT',
      headers: admin,
    });
    expect(status).toBe(204);
    await untilStatus(id, 'completed');
  });

  test('whose document its owner has retried does nothing more, and says so', async () => {
    const [id = ''] = await makePoison('loft.md');
    await ask(`${service.url}/documents/${id}/retry`, { method: 'POST', headers: owner });
    await untilStatus(id, 'completed');
    expect((await boardJob(`ingest-${id}-1-1`)).job.data['retry']).toBe(
      'does nothing: its document was tried again since',
    );
    await put(`${LANE}/retry/failed`);
    await until(async () => (await failedJobs()) === 0);
    expect(await inspect(id)).toMatchObject({ status: 'completed', attempt: 2 });
  });
});

describe('the page of a document', () => {
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string>) =>
    ask(`${service.url}/admin/documents/${path}`, form(fields, headers));

  async function openPage(id: string) {
    const { cookie } = await login(service.url, adminToken());
    const shown = await ask(`${service.url}/admin/documents/${id}`, { headers: { ...page, Cookie: cookie } });
    expect(shown.status).toBe(200);
    return { shown, csrf: csrfIn(shown), cookie: cookie || cookieHeader(shown) };
  }

  test('retries, and shows name and plans but no content', async () => {
    const [id = ''] = await makePoison('plan of the <vault>.md');
    const { shown, csrf, cookie } = await openPage(id);
    expect(shown.text).toContain('plan of the &lt;vault&gt;.md');
    expect(shown.text).toContain('Its source is read again as attempt 2');
    expect(shown.text).not.toContain('barrels');
    expect(shown.text).not.toContain(`/admin/documents/${id}/cancel`);
    const answer = await post(`${id}/retry`, { csrf }, { Cookie: cookie, Origin: service.url });
    expect([answer.status, answer.headers.location]).toEqual([303, `/admin/documents/${id}`]);
    await untilStatus(id, 'completed');
  });

  test('cancels what waits', async () => {
    await put(`${LANE}/pause`);
    try {
      const id = await ingest('waiting.md');
      const { shown, csrf, cookie } = await openPage(id);
      expect(shown.text).toContain('waits: the queue is paused');
      expect(shown.text).not.toContain(`/admin/documents/${id}/retry`);
      expect((await post(`${id}/cancel`, { csrf }, { Cookie: cookie })).status).toBe(303);
      expect((await inspect(id))['status']).toBe('cancelled');
    } finally {
      await put(`${LANE}/resume`);
    }
  });

  test('deletes a document that the admin may not read', async () => {
    const id = await ingest('secret.md');
    expect((await ask(`${service.url}/documents/${id}`, { headers: admin })).status).not.toBe(200);
    const { csrf, cookie } = await openPage(id);
    const answer = await post(`${id}/delete`, { csrf }, { Cookie: cookie });
    expect([answer.status, answer.headers.location]).toEqual([303, '/admin/queues']);
    expect((await ask(`${service.url}/documents/${id}`, { headers: owner })).status).toBe(404);
  });

  test('obeys a bearer token of an admin without a form, and answers in JSON', async () => {
    const id = await ingest('by-token.md');
    await untilStatus(id, 'completed');
    const options = { method: 'POST', headers: { ...admin, Accept: 'application/json' } };
    expect((await ask(`${service.url}/admin/documents/${id}/delete`, options)).status).toBe(204);
    expect((await ask(`${service.url}/admin/documents/${id}/delete`, options)).status).toBe(404);
  });

  test('obeys no other page, no form without its token, and nobody but admins', async () => {
    const id = await ingest('guarded.md');
    await untilStatus(id, 'completed');
    const { csrf, cookie } = await openPage(id);
    const other = await openPage(id);
    for (const [fields, headers, status] of [
      [{}, { Cookie: cookie }, 403],
      [{ csrf: 'guess' }, { Cookie: cookie }, 403],
      [{ csrf: other.csrf }, { Cookie: cookie }, 403],
      [{ csrf }, { Cookie: cookie, Origin: 'https://evil.example' }, 403],
      [{ csrf }, { Cookie: cookie, 'Sec-Fetch-Site': 'cross-site' }, 403],
      [{}, { ...admin, Origin: 'https://evil.example' }, 403],
      [{}, owner, 403],
      [{ csrf }, {}, 401],
    ] as const) {
      expect((await post(`${id}/delete`, { ...fields }, { ...headers })).status).toBe(status);
    }
    const get = await ask(`${service.url}/admin/documents/${id}/delete`, { headers: { Cookie: cookie } });
    expect([get.status, get.headers.allow]).toEqual([405, 'POST']);
    expect((await inspect(id))['status']).toBe('completed');
  });
});
