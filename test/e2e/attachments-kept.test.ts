import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { extractionView } from '../../src/api/routes/extraction-view.js';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { writeMail } from '../support/mail.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
beforeAll(async () => {
  service = await startService({
    env: {
      QUIRE_INGEST_ATTACHMENTS: 'true',
      // The mail itself is one of them.
      QUIRE_INGEST_MAX_WAITING_PER_CALLER: '3',
    },
  });
});
afterAll(() => service.stop());

const caller = (name: string): Client => createClient(service.url, name);

async function extractionOf(client: Client, id: string) {
  const { body, status } = await client.get(`/documents/${id}/extraction`);
  return status === 200 ? extractionView.parse(body) : null;
}

/** Waits until a document is completed or has failed. */
async function settled(client: Client, id: string): Promise<WireDocument> {
  const read = async () => (await client.get<WireDocument>(`/documents/${id}`)).body;
  await until(async () => !['queued', 'processing'].includes((await read()).system_metadata.status));
  return read();
}

const namesOf = async (client: Client): Promise<(string | null)[]> => {
  const { body } = await client.get('/documents?limit=100');
  return z
    .array(z.object({ filename: z.string().nullable() }))
    .parse(body)
    .map((each) => each.filename)
    .sort();
};

const filesOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `${name}-${String(index)}.txt`,
    type: 'text/plain',
    bytes: `Number ${String(index)} of ${name}. `.repeat(20_000),
  }));

const putMail = async (client: Client, id: string, mail: Uint8Array) => {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(mail)]), 'mail.eml');
  const headers = { prefer: 'respond-async' };
  return client.send('PUT', `/documents/${id}/content`, { body: form, headers });
};

async function killWorkers(times: number, everyMilliseconds: number): Promise<void> {
  for (let kills = 0; kills < times; kills += 1) {
    await sleep(everyMilliseconds);
    await service.workers.at(-1)?.kill('SIGKILL');
    service.startWorker();
  }
}

test('attachments for which there is no room are made later by themselves, also where workers are killed', async () => {
  const anna = caller('anna');
  const mail = writeMail({ subject: 'many', files: filesOf('many', 8) });
  const { body: parent } = await anna.ingestFile(mail, 'mail.eml');
  expect((await settled(anna, parent.external_id)).system_metadata.status).toBe('completed');
  const reasons = (await extractionOf(anna, parent.external_id))?.attachments.map(({ reason }) => reason);
  expect(reasons).toContain('The document of it is still to be made, as soon as there is room for one.');
  await killWorkers(3, 1_500);
  await until(async () => (await namesOf(anna)).length === 9);
  await until(async () =>
    Boolean(
      (await extractionOf(anna, parent.external_id))?.attachments.every(({ reason }) => reason === null),
    ),
  );
  const read = await extractionOf(anna, parent.external_id);
  expect(read).toMatchObject({ gap_count: 0, former_attachments: [] });
  const ids = read?.attachments.map(({ document_id: id }) => id ?? '') ?? [];
  expect(new Set(ids).size).toBe(8);
  for (const id of ids) expect((await settled(anna, id)).system_metadata.status).toBe('completed');
  expect((await anna.delete(`/documents/${parent.external_id}`)).status).toBe(200);
  expect(await namesOf(anna)).toEqual([]);
});

test('a mail that is deleted while its attachments wait leaves none behind', async () => {
  const bea = caller('bea');
  const mail = writeMail({ subject: 'many', files: filesOf('gone', 8) });
  const { body: parent } = await bea.ingestFile(mail, 'mail.eml');
  expect((await bea.delete(`/documents/${parent.external_id}`)).status).toBe(200);
  await sleep(4_000);
  expect(await namesOf(bea)).toEqual([]);
});

test('new content takes the attachments of the old away only when it is there, also where workers are killed', async () => {
  const carl = caller('carl');
  const before = writeMail({ subject: 'before', files: filesOf('before', 2) });
  const { body: parent } = await carl.ingestFile(before, 'mail.eml');
  const old = ['before-0.txt', 'before-1.txt', 'mail.eml'];
  await until(async () => (await namesOf(carl)).join() === old.join());
  for (let round = 0; round < 3; round += 1) {
    const name = `after-${String(round)}`;
    const known = await namesOf(carl);
    const version = (await carl.get<WireDocument>(`/documents/${parent.external_id}`)).body.system_metadata
      .published_version;
    expect(
      (await putMail(carl, parent.external_id, writeMail({ subject: name, files: filesOf(name, 2) }))).status,
    ).toBe(202);
    const killing = killWorkers(2, 400 + 300 * round);
    for (;;) {
      const names = await namesOf(carl);
      const { body } = await carl.get<WireDocument>(`/documents/${parent.external_id}`);
      if (body.system_metadata.published_version !== version) break;
      // The names were read before, so that what they lack was gone while the old content was published.
      expect(names).toEqual(expect.arrayContaining(known));
      await sleep(20);
    }
    await killing;
    const wanted = [`${name}-0.txt`, `${name}-1.txt`, 'mail.eml'];
    await until(async () => (await namesOf(carl)).join() === wanted.join());
  }
});

test('an attachment that the caller may not write stays, and the extraction names it', async () => {
  const [dora, emil] = [caller('dora'), caller('emil')];
  const form = new FormData();
  const mail = writeMail({ subject: 'first', files: filesOf('first', 2) });
  form.set('file', new Blob([new Uint8Array(mail)]), 'mail.eml');
  form.set('access_control', JSON.stringify({ readers: ['emil'], writers: ['emil'] }));
  const { body: parent } = await dora.send<WireDocument>('POST', '/ingest/file', { body: form });
  await until(async () => (await namesOf(dora)).length === 3);
  const [own = ''] =
    (await extractionOf(dora, parent.external_id))?.attachments.map(({ document_id: id }) => id ?? '') ?? [];
  await settled(dora, own);
  const closed = { access_control: { readers: ['dora'], writers: ['dora'] } };
  expect((await dora.patch(`/documents/${own}`, closed)).status).toBe(200);
  expect((await putMail(emil, parent.external_id, writeMail({ subject: 'none' }))).status).toBe(202);
  await until(async () => (await namesOf(dora)).length === 2);
  await until(async () => (await extractionOf(emil, parent.external_id))?.former_attachments.length === 1);
  expect(await extractionOf(emil, parent.external_id)).toMatchObject({ former_attachments: [own] });
  expect((await emil.get(`/documents/${own}`)).status).toBe(403);
  expect((await dora.searchChunks('number of first')).body[0]).toMatchObject({ document_id: own });
  // It is a document of its own now.
  expect((await emil.delete(`/documents/${parent.external_id}`)).status).toBe(200);
  expect(await namesOf(dora)).toEqual(['first-0.txt']);
});
