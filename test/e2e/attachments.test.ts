import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { receiptSchema } from '../../src/readers/receipt/receipt.js';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { writeMail } from '../support/mail.js';
import { runQuire } from '../support/run-quire.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
beforeAll(async () => {
  service = await startService({
    env: {
      QUIRE_INGEST_ATTACHMENTS: 'true',
      QUIRE_INGEST_ATTACHMENT_DEPTH: '2',
      QUIRE_INGEST_MAX_ATTACHMENTS: '3',
      QUIRE_INGEST_MAX_WAITING_PER_CALLER: '50',
    },
  });
});
afterAll(() => service.stop());

const caller = (name: string): Client => createClient(service.url, name);
const extractionSchema = receiptSchema.pick({ attachments: true, gap_counts: true });

async function attachmentsOf(client: Client, id: string) {
  const { body } = await client.get(`/documents/${id}/extraction`);
  return extractionSchema.parse(body);
}

/** Waits until a document is completed or has failed. */
async function settled(client: Client, id: string): Promise<WireDocument> {
  const read = async () => (await client.get<WireDocument>(`/documents/${id}`)).body;
  await until(async () => !['queued', 'processing'].includes((await read()).system_metadata.status));
  return read();
}

const idsOf = async (client: Client): Promise<string[]> => {
  const { body } = await client.get('/documents');
  return z
    .array(z.object({ external_id: z.string() }))
    .parse(body)
    .map((each) => each.external_id);
};

test('files of a mail become documents of their own, with the access of the mail', async () => {
  const ann = caller('ann');
  const form = new FormData();
  const picture = Uint8Array.from({ length: 600 }, (_, index) => (index * 7919) % 256);
  const mail = writeMail({
    subject: 'Birds',
    files: [
      { name: 'herons.txt', type: 'text/plain', bytes: 'A grey heron stands in the reeds.' },
      { name: 'page.bin', bytes: '<!DOCTYPE html><title>x</title><p>A kingfisher dives.' },
      { name: 'noise.bin', bytes: picture },
      { name: 'late.txt', bytes: 'Too many.' },
    ],
  });
  form.set('file', new Blob([new Uint8Array(mail)]), 'birds.eml');
  form.set('access_control', JSON.stringify({ readers: ['bob'] }));
  const { body: parent, status } = await ann.send<WireDocument>('POST', '/ingest/file', { body: form });
  expect(status).toBe(200);
  const { attachments, gap_counts: gaps } = await attachmentsOf(ann, parent.external_id);
  expect(attachments.map(({ filename, reason }) => [filename, reason])).toEqual([
    ['herons.txt', null],
    ['page.bin', null],
    ['noise.bin', 'Files of its type are not read.'],
    ['late.txt', 'No more than 3 attachments of a document are read.'],
  ]);
  expect(gaps).toEqual({ skipped: 2 });
  const [herons, page] = await Promise.all(
    attachments.slice(0, 2).map(({ document_id: id }) => settled(ann, id ?? '')),
  );
  expect(herons).toMatchObject({
    filename: 'herons.txt',
    metadata: { parent_document_id: parent.external_id, attachment_filename: 'herons.txt' },
    system_metadata: { status: 'completed' },
  });
  expect(page?.content_type).toBe('text/html');
  const found = await caller('bob').searchChunks('kingfisher');
  expect(found.body[0]).toMatchObject({ document_id: page?.external_id });
  expect((await caller('eve').searchChunks('kingfisher')).body).toEqual([]);
});

test('mails within mails are read to the depth that the settings say', async () => {
  const carl = caller('carl');
  const text = (name: string) => ({ name, type: 'text/plain', bytes: `The text of ${name}.` });
  const inmost = writeMail({ subject: 'three', files: [text('three.txt')] });
  const inner = writeMail({ subject: 'two', files: [{ name: 'three.eml', bytes: inmost }, text('two.txt')] });
  const outer = writeMail({ subject: 'one', files: [{ name: 'two.eml', bytes: inner }] });
  const { body: parent } = await carl.ingestFile(outer, 'one.eml');
  const second = (await attachmentsOf(carl, parent.external_id)).attachments[0]?.document_id ?? '';
  await settled(carl, second);
  const { attachments } = await attachmentsOf(carl, second);
  expect(attachments.map(({ filename, reason }) => [filename, reason])).toEqual([
    ['three.eml', null],
    ['two.txt', null],
  ]);
  const third = attachments[0]?.document_id ?? '';
  await settled(carl, third);
  expect((await attachmentsOf(carl, third)).attachments).toMatchObject([
    { filename: 'three.txt', document_id: null, reason: 'Attachments are read to a depth of 2.' },
  ]);
  expect(await idsOf(carl)).toHaveLength(4);
});

test('documents of attachments come into the collections of their mail', async () => {
  const ida = caller('ida');
  const { body: collection } = await ida.post<{ id: string }>('/collections', { name: 'Mail' });
  const form = new FormData();
  const mail = writeMail({ subject: 'mail', files: [{ name: 'a.txt', bytes: 'An attachment.' }] });
  form.set('file', new Blob([new Uint8Array(mail)]), 'mail.eml');
  form.set('collection', collection.id);
  expect((await ida.send('POST', '/ingest/file', { body: form })).status).toBe(200);
  const { body: other } = await ida.ingestText('No mail.');
  const listed = async () => (await ida.get<WireDocument[]>(`/documents?collection=${collection.id}`)).body;
  await until(async () => (await listed()).length === 2);
  expect((await listed()).map(({ external_id: id }) => id)).not.toContain(other.external_id);
});

test('documents of attachments are removed with the mail, and replaced with its content', async () => {
  const dora = caller('dora');
  const files = (name: string) => [{ name, type: 'text/plain', bytes: `About ${name}.` }];
  const inner = writeMail({ subject: 'inner', files: files('inmost.txt') });
  const { body: parent } = await dora.ingestFile(
    writeMail({ subject: 'first', files: [{ name: 'inner.eml', bytes: inner }, ...files('first.txt')] }),
    'mail.eml',
  );
  await until(async () => (await idsOf(dora)).length === 4);
  const form = new FormData();
  form.set(
    'file',
    new Blob([new Uint8Array(writeMail({ subject: 'next', files: files('next.txt') }))]),
    'mail.eml',
  );
  await dora.send('PUT', `/documents/${parent.external_id}/content`, { body: form });
  await until(async () => (await idsOf(dora)).length === 2);
  const readNext = async () => (await attachmentsOf(dora, parent.external_id)).attachments[0];
  // It is made after the mail is published, and the mail says so a moment later.
  await until(async () => (await readNext())?.reason === null);
  expect(await readNext()).toMatchObject({ filename: 'next.txt' });
  expect((await dora.delete(`/documents/${parent.external_id}`)).status).toBe(200);
  expect(await idsOf(dora)).toEqual([]);
});

test('a reader from whom the mail is closed neither finds nor reads its attachments', async () => {
  const [gina, hugo] = [caller('gina'), caller('hugo')];
  const inner = writeMail({ subject: 'inner', files: [{ name: 'in.txt', bytes: 'An osprey fishes.' }] });
  const mail = writeMail({
    subject: 'outer',
    files: [
      { name: 'inner.eml', bytes: inner },
      { name: 'out.txt', bytes: 'A bittern booms.' },
    ],
  });
  const { body: parent } = await gina.ingestFile(mail, 'outer.eml');
  await until(async () => (await idsOf(gina)).length === 4);
  const all = await idsOf(gina);
  for (const id of all) await settled(gina, id);
  const share = async (readers: readonly string[]) => {
    const patched = await gina.patch(`/documents/${parent.external_id}`, { access_control: { readers } });
    expect(patched.status).toBe(200);
  };
  expect((await hugo.searchChunks('osprey bittern')).body).toEqual([]);
  await share(['gina', 'hugo']);
  await until(async () => (await hugo.searchChunks('osprey bittern')).body.length === 4);
  for (const id of all) expect((await hugo.get(`/documents/${id}`)).status).toBe(200);
  await share(['gina']);
  expect((await hugo.searchChunks('osprey bittern')).body).toEqual([]);
  expect(await idsOf(hugo)).toEqual([]);
  for (const id of all) expect((await hugo.get(`/documents/${id}`)).status).toBe(403);
  expect((await gina.searchChunks('osprey bittern')).body).toHaveLength(4);
});

test('a short text in place of a mail removes what was made of its attachments', async () => {
  const ines = caller('ines');
  const mail = writeMail({ subject: 'mail', files: [{ name: 'a.txt', bytes: 'An attachment.' }] });
  const { body: parent } = await ines.ingestFile(mail, 'mail.eml');
  await until(async () => (await idsOf(ines)).length === 2);
  await ines.put(`/documents/${parent.external_id}/content`, { content: 'Only a short text.' });
  await until(async () => (await idsOf(ines)).length === 1);
  expect((await settled(ines, parent.external_id)).system_metadata.status).toBe('completed');
});

test('a mail that is given to another user takes what was made of its attachments along', async () => {
  const [paula, quentin] = [caller('paula'), caller('quentin')];
  const mails = ['one', 'two'].map((name) =>
    writeMail({ subject: name, files: [{ name: 'a.txt', bytes: `Attached to ${name}.` }] }),
  );
  const parents: string[] = [];
  for (const mail of mails) parents.push((await paula.ingestFile(mail, 'mail.eml')).body.external_id);
  await until(async () => (await idsOf(paula)).length === 4);
  const give = ['documents', 'give', '--from', 'paula', '--to', 'quentin'];
  // Whatever is still at work is left to another run.
  await until(async () => (await runQuire(give, { REDIS_URL: service.redis.url })).code === 0);
  expect(await idsOf(paula)).toEqual([]);
  expect(await idsOf(quentin)).toHaveLength(4);
  const [first = '', second = ''] = parents;
  expect((await quentin.delete(`/documents/${first}`)).status).toBe(200);
  expect(await idsOf(quentin)).toHaveLength(2);
  await quentin.put(`/documents/${second}/content`, { content: 'Only a short text.' });
  await until(async () => (await idsOf(quentin)).length === 1);
});

test('a mail is ingested where its attachments may not wait', async () => {
  const emil = caller('emil');
  const worker = service.workers[0];
  await worker?.kill('SIGKILL');
  const waiting = Array.from({ length: 49 }, (_, index) =>
    emil.ingestText(`waiting ${String(index)}`, {}, { prefer: 'respond-async' }),
  );
  await Promise.all(waiting);
  const mail = writeMail({ subject: 'full', files: [{ name: 'a.txt', bytes: 'a' }] });
  const { body: parent } = await emil.ingestFile(mail, 'full.eml', { prefer: 'respond-async' });
  // Whichever comes first, the mail is never refused what it needs for itself.
  service.startWorker();
  expect((await settled(emil, parent.external_id)).system_metadata.status).toBe('completed');
});

test('a worker that is killed again and again makes each document once', async () => {
  const fred = caller('fred');
  const files = Array.from({ length: 3 }, (_, index) => ({
    name: `file-${String(index)}.txt`,
    type: 'text/plain',
    bytes: `Number ${String(index)}. `.repeat(20_000),
  }));
  const mails = Array.from({ length: 6 }, (_, index) =>
    writeMail({ subject: `mail ${String(index)}`, files }),
  );
  const parents: string[] = [];
  for (const mail of mails) {
    const { body } = await fred.ingestFile(mail, 'mail.eml', { prefer: 'respond-async' });
    parents.push(body.external_id);
  }
  let worker = service.workers.at(-1);
  for (let kills = 0; kills < 4; kills += 1) {
    await new Promise((resolve) => setTimeout(resolve, 900));
    await worker?.kill('SIGKILL');
    worker = service.startWorker();
  }
  for (const parent of parents)
    expect((await settled(fred, parent)).system_metadata.status).toBe('completed');
  const children: string[] = [];
  for (const parent of parents)
    for (const { document_id: id, reason } of (await attachmentsOf(fred, parent)).attachments) {
      expect(reason).toBeNull();
      children.push(id ?? '');
    }
  for (const child of children) expect((await settled(fred, child)).system_metadata.status).toBe('completed');
  expect(new Set(await idsOf(fred))).toEqual(new Set([...parents, ...children]));
  expect(children).toHaveLength(18);
});
