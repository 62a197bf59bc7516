import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { documentView } from '../../src/api/routes/document-view.js';
import { createClient, type Client } from '../support/client.js';
import { drawPdf, lines } from '../support/drawn-pdf.js';
import { writeMail } from '../support/mail.js';
import { PROSE, scan, scanLines, toPdf } from '../support/scans.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
let scanned: Buffer;
/** A page of text, which is only recognized where that is forced. */
const written = drawPdf({ pages: [{ content: lines(60, 700, PROSE, { size: 12, leading: 18 }) }] });
beforeAll(async () => {
  scanned = (await scan(150)).pdf;
  service = await startService({ env: { QUIRE_INGEST_ATTACHMENTS: 'true', QUIRE_INGEST_OCR: 'off' } });
});
afterAll(() => service.stop());

const caller = (name: string): Client => createClient(service.url, name);

function formOf(files: readonly Uint8Array[], fields: Readonly<Record<string, string>>, name = 'file') {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  for (const [index, bytes] of files.entries())
    form.append(name, new Blob([new Uint8Array(bytes)]), `${String(index)}.pdf`);
  return form;
}

const documentOf = async (client: Client, id: string) =>
  documentView.parse((await client.get(`/documents/${id}`)).body).system_metadata;
async function settled(client: Client, id: string) {
  await until(async () => !['queued', 'processing'].includes((await documentOf(client, id)).status));
  return documentOf(client, id);
}

async function ingest(client: Client, bytes: Uint8Array, fields: Readonly<Record<string, string>> = {}) {
  const headers = { prefer: 'respond-async' };
  const { body } = await client.send('POST', '/ingest/file', { body: formOf([bytes], fields), headers });
  const { external_id: id } = documentView.parse(body);
  return { id, ...(await settled(client, id)) };
}

test('a file is read as its request says, and else as the settings say', async () => {
  const ann = caller('ann');
  expect(await ingest(ann, scanned)).toMatchObject({ status: 'failed', error: { code: 'no_text' } });
  expect(await ingest(ann, scanned, { ocr: 'off' })).toMatchObject({ error: { code: 'no_text' } });
  const read = await ingest(ann, scanned, { ocr: 'auto' });
  expect(read).toMatchObject({ status: 'completed', extraction: { ocr_pages: 1 } });
  expect((await ann.searchChunks('paedomorphic salamander')).body[0]).toMatchObject({ document_id: read.id });
  expect(await ingest(ann, written, { ocr: 'auto' })).toMatchObject({ extraction: { ocr_pages: 0 } });
  expect(await ingest(ann, written, { ocr: 'force' })).toMatchObject({ extraction: { ocr_pages: 1 } });
});

test('a retry, and a worker that takes over, read a file the same way', async () => {
  const bob = caller('bob');
  const headers = { prefer: 'respond-async' };
  await service.workers.at(-1)?.kill('SIGKILL');
  const { body } = await bob.send('POST', '/ingest/file', {
    body: formOf([scanned], { ocr: 'auto' }),
    headers,
  });
  const { external_id: id } = documentView.parse(body);
  expect((await bob.post(`/documents/${id}/cancel`)).status).toBe(200);
  expect((await bob.post(`/documents/${id}/retry`, {}, headers)).status).toBe(202);
  const dying = service.startWorker();
  await until(async () => (await documentOf(bob, id)).status !== 'queued');
  await dying.kill('SIGKILL');
  service.startWorker();
  expect(await settled(bob, id)).toMatchObject({ status: 'completed', extraction: { ocr_pages: 1 } });
});

test('new content is read as the content before, unless it says otherwise; the same file is read anew', async () => {
  const carl = caller('carl');
  const { id } = await ingest(carl, scanned, { ocr: 'force' });
  const put = async (bytes: Uint8Array, fields = {}) => {
    const path = `/documents/${id}/content`;
    const { status } = await carl.send('PUT', path, { body: formOf([bytes], fields) });
    return { code: status, ...(await settled(carl, id)) };
  };
  expect(await put(written)).toMatchObject({ code: 200, version: 2, extraction: { ocr_pages: 1 } });
  expect(await put(written)).toMatchObject({ version: 2 });
  expect(await put(written, { ocr: 'off' })).toMatchObject({ version: 3, extraction: { ocr_pages: 0 } });
  expect(await put(written, { ocr: 'maybe' })).toMatchObject({ code: 422, version: 3 });
});

const outcomes = z.array(
  z.object({
    document_id: z.string().optional(),
    error: z.object({ loc: z.array(z.string()), type: z.string() }).optional(),
  }),
);

test('a form of many files says it for all of them, or for each', async () => {
  const dora = caller('dora');
  const send = async (ocr: string) => {
    const body = formOf([scanned, written], { ocr }, 'files');
    return outcomes.parse((await dora.send('POST', '/ingest/files', { body })).body);
  };
  const pagesOf = async (some: z.infer<typeof outcomes>) => {
    const pages: unknown[] = [];
    for (const { document_id: id = '' } of some) pages.push((await settled(dora, id)).extraction?.ocr_pages);
    return pages;
  };
  expect(await pagesOf(await send('force'))).toEqual([1, 1]);
  expect(await pagesOf(await send('["auto", "off"]'))).toEqual([1, 0]);
  const [bad, good] = await send('["maybe", "off"]');
  expect(bad?.error).toMatchObject({ loc: ['body', 'ocr'], type: 'type_error.enum' });
  expect(good?.document_id).toBeDefined();
});

test('attachments are read as the mail that carries them', async () => {
  const emil = caller('emil');
  const files = [{ name: 'scan.pdf', type: 'application/pdf', bytes: scanned }];
  const form = formOf([], { ocr: 'auto' });
  form.set('file', new Blob([new Uint8Array(writeMail({ subject: 'A scan', files }))]), 'scan.eml');
  await emil.send('POST', '/ingest/file', { body: form });
  await until(async () => (await emil.searchChunks('paedomorphic salamander')).body.length > 0);
});

test('a mode that there is not is refused in every way to ingest, and the field is named', async () => {
  const fay = caller('fay');
  const refused = { detail: [expect.objectContaining({ loc: ['body', 'ocr'] })] };
  const upload = await fay.send('POST', '/ingest/file', { body: formOf([written], { ocr: 'maybe' }) });
  expect(upload).toMatchObject({ status: 422, body: refused });
  expect(await fay.ingestText('A text.', { ocr: 'maybe' })).toMatchObject({ status: 422, body: refused });
  const batch = await fay.post('/ingest/batch', { documents: [{ content: 'A text.', ocr: 'maybe' }] });
  expect(outcomes.parse(batch.body)[0]?.error).toMatchObject({ loc: ['body', 'ocr'] });
  const { body } = await fay.ingestText('A text.', { ocr: 'off' });
  const put = await fay.put(`/documents/${body.external_id}/content`, { content: 'Another.', ocr: 1 });
  expect(put).toMatchObject({ status: 422, body: refused });
});

test('how far a scan is read is told page by page, and never goes back', async () => {
  const gil = caller('gil');
  const page = await scanLines(150);
  const bytes = toPdf(Array.from({ length: 8 }, () => page));
  const headers = { prefer: 'respond-async' };
  const { body } = await gil.send('POST', '/ingest/file', {
    body: formOf([bytes], { ocr: 'auto' }),
    headers,
  });
  const { external_id: id } = documentView.parse(body);
  const told: number[] = [];
  await until(async () => {
    const { status, stage, progress } = await documentOf(gil, id);
    if (stage === 'parsing' && progress !== told.at(-1)) told.push(progress);
    return !['queued', 'processing'].includes(status);
  });
  expect(await documentOf(gil, id)).toMatchObject({
    error: null,
    status: 'completed',
    extraction: { ocr_pages: 8 },
  });
  const between = told.filter((progress) => progress > 0);
  expect(between.length).toBeGreaterThanOrEqual(2);
  expect(Math.max(...between)).toBeLessThanOrEqual(0.5);
  expect(told).toEqual(told.toSorted((a, b) => a - b));
});
