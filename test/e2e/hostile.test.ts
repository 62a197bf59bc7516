import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { strToU8, zipSync } from 'fflate';
import type { Client, WireDocument } from '../support/client.js';
import { endlessPdf, hungryPdf, manyPages, pagesPdf } from '../support/pdfs.js';
import { isRunning, parsersOf, residentBytes } from '../support/processes.js';
import { LIMITED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { until } from '../support/until.js';

const service = useService({ env: LIMITED });
let client: Client;
let loggedBefore = 0;

beforeAll(async () => {
  client = service.client('attacker');
  loggedBefore = (await service.apiOutput()).length;
});

const ALL_HEALTHY = { status: 200, body: { status: 'ready' } };

/** The number of neighbours that have ingested and searched before something else was over. */
async function visitNeighbours(isOver: () => boolean): Promise<number> {
  let served = 0;
  while (!isOver()) {
    const word = `gazelle${String(Math.random()).slice(2)}`;
    const ingested = await client.ingestText(`A neighbour keeps a ${word}.`);
    const searched = await client.searchChunks(word, { k: 1 });
    if (!isOver()) served += 1;
    expect([ingested.status, searched.body[0]?.document_id]).toEqual([200, ingested.body.external_id]);
  }
  return served;
}

async function untilStage(id: string, isSo: (document: WireDocument) => boolean): Promise<WireDocument> {
  const end = Date.now() + 120_000;
  for (;;) {
    const { body } = await client.get<WireDocument>(`/documents/${id}`);
    if (isSo(body)) return body;
    if (Date.now() > end) throw new Error(`never came true: ${JSON.stringify(body.system_metadata)}`);
    await sleep(20);
  }
}

const isFinal = ({ system_metadata: { status } }: WireDocument) =>
  status !== 'queued' && status !== 'processing';

describe('a document that attacks its parser', () => {
  const bombs: [string, string, () => Uint8Array, RegExp][] = [
    ['inflates to 300 MB', 'bomb.docx', () => zipBomb(), /too_large/],
    ['inflates to 5 GB in memory', 'hungry.pdf', () => hungryPdf(), /too_large|timeout/],
    ['never ends', 'endless.pdf', () => strToU8(endlessPdf()), /timeout/],
  ];

  test('fails alone with a code, all of them at once, while neighbours go on', async () => {
    const fates = bombs.map(async ([, filename, bytes, code]) => {
      const reply = await client.ingestFile(bytes(), filename, { prefer: 'wait=120' });
      const { body } = await client.get<WireDocument>(reply.headers.get('location') ?? '');
      expect(body.system_metadata).toMatchObject({ status: 'failed', error: { message: reply.body.detail } });
      expect(body.system_metadata.error?.code).toMatch(code);
      return { filename, status: reply.status, code: body.system_metadata.error?.code };
    });
    let isOver = false;
    // The longest one is ended at the clock.
    const over = Promise.allSettled(fates).then(() => (isOver = true));
    const served = await visitNeighbours(() => isOver);
    await over;
    console.info('attacks', JSON.stringify(await Promise.all(fates)), 'neighbours served', served);
    expect((await Promise.all(fates)).map(({ status }) => status)).toEqual([400, 400, 400]);
    // Neighbours that had to wait for parsers would be served after them.
    expect(served).toBeGreaterThanOrEqual(3);
    for (const id of [service.api.pid, service.worker.pid]) {
      expect(await residentBytes(id)).toBeLessThan(700 * 1024 * 1024);
    }
  });

  test('whose parser is killed while it reads is read again', async () => {
    const { body } = await client.ingestFile(pagesPdf(manyPages(200)), 'killed.pdf', {
      prefer: 'respond-async',
    });
    await untilStage(body.external_id, ({ system_metadata }) => system_metadata.stage === 'parsing');
    // Parsers of documents before it may still be there, but one was started or lent for it by now.
    await until(async () => (await parsersOf(service.worker.pid)).length > 0);
    await sleep(300);
    for (const id of await parsersOf(service.worker.pid)) process.kill(id, 'SIGKILL');
    const document = await untilStage(body.external_id, isFinal);
    expect(document.system_metadata).toMatchObject({ status: 'completed', error: null });
    const [found] = (await client.searchChunks('axolotl199', { k: 1 })).body;
    expect(found?.document_id).toBe(body.external_id);
  });
});

test('after all of this everything is ready, and no process was lost', async () => {
  expect(await client.get('/health/ready')).toMatchObject(ALL_HEALTHY);
  for (const { pid } of [service.api, service.worker]) expect(isRunning(pid)).toBe(true);
  expect((await service.apiOutput()).slice(loggedBefore)).not.toMatch(/"status":500/);
});

function zipBomb(): Uint8Array {
  return zipSync({ 'word/document.xml': new Uint8Array(300 * 1024 * 1024) }, { level: 1 });
}
