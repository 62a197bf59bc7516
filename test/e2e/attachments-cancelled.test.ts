import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openQueue } from '../../src/shared/queues/lanes.js';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { writeMail } from '../support/mail.js';
import { lanesOf, whilePaused } from '../support/paused-queues.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
beforeAll(async () => {
  service = await startService({ env: { QUIRE_INGEST_ATTACHMENTS: 'true' } });
});
afterAll(() => service.stop());

async function waitingToEmbed(): Promise<number> {
  let count = 0;
  for (const lane of lanesOf('embedding')) {
    const queue = openQueue(lane, { url: service.redis.url });
    count += await queue.getJobCountByTypes('waiting', 'prioritized', 'active');
    await queue.close();
  }
  return count;
}

/** Sends a mail with one attachment, and resolves when what it carries is made and its own text waits to be embedded. */
async function sendHalf(client: Client, form: FormData, id?: string): Promise<string> {
  const headers = { prefer: 'respond-async' };
  const [method, path] = id ? ['PUT', `/documents/${id}/content`] : ['POST', '/ingest/file'];
  const { body } = await client.send<WireDocument>(method, path, { body: form, headers });
  await until(async () => (await waitingToEmbed()) > 0);
  return id ?? body.external_id;
}

function formOf(subject: string, bytes: string | null): FormData {
  const files = bytes === null ? [] : [{ name: `${subject}.txt`, type: 'text/plain', bytes }];
  const form = new FormData();
  const mail = writeMail({ subject, text: `The text of ${subject}.`, files });
  form.set('file', new Blob([new Uint8Array(mail)]), 'mail.eml');
  form.set('access_control', JSON.stringify({ readers: ['bob'] }));
  return form;
}

async function textsFound(client: Client, query: string): Promise<string[]> {
  const { body } = await client.searchChunks(query);
  return body.map(({ content }) => content);
}

const whileNothingIsEmbedded = (action: () => Promise<void>) =>
  whilePaused(service.redis.url, lanesOf('embedding'), action);

test('attachments of new content that is cancelled are not found', async () => {
  const [ann, bob] = [createClient(service.url, 'ann'), createClient(service.url, 'bob')];
  const { body: mail } = await ann.send<WireDocument>('POST', '/ingest/file', {
    body: formOf('first', null),
  });
  await whileNothingIsEmbedded(async () => {
    await sendHalf(ann, formOf('mistake', 'The cormorant earns most.'), mail.external_id);
    await ann.send('POST', `/documents/${mail.external_id}/cancel`);
  });
  // Making and removing may take the workers a moment.
  await sleep(5_000);
  expect(await textsFound(bob, 'cormorant')).not.toContain('The cormorant earns most.');
}, 120_000);

const idsOf = async (client: Client): Promise<string[]> =>
  (await client.get<WireDocument[]>('/documents')).body.map((each) => each.external_id).sort();

test('nothing of a mail that is cancelled is there after the response, until it is retried', async () => {
  const [cleo, bob] = [createClient(service.url, 'cleo'), createClient(service.url, 'bob')];
  const text = 'The gannet dives for herring.';
  let id = '';
  await whileNothingIsEmbedded(async () => {
    id = await sendHalf(cleo, formOf('gannet', text));
    await until(async () => (await idsOf(cleo)).length === 2);
    expect((await cleo.send('POST', `/documents/${id}/cancel`)).status).toBe(200);
    expect(await idsOf(cleo)).toEqual([id]);
  });
  await sleep(2_000);
  expect(await textsFound(bob, 'gannet')).not.toContain(text);
  await cleo.send('POST', `/documents/${id}/retry`);
  await until(async () => (await textsFound(bob, 'gannet')).includes(text));
  expect(await idsOf(cleo)).toHaveLength(2);
}, 120_000);

test('a cancellation is kept where the API or a worker is killed meanwhile', async () => {
  const dan = createClient(service.url, 'dan');
  const ids: string[] = [];
  for (let round = 0; round < 6; round += 1) {
    await whileNothingIsEmbedded(async () => {
      const id = await sendHalf(dan, formOf(`plover ${String(round)}`, `About plover ${String(round)}.`));
      ids.push(id);
      const cancelling = dan.send('POST', `/documents/${id}/cancel`).catch(() => null);
      await sleep(3 * round);
      if (round % 2 === 0) await service.startApi();
      else {
        await service.workers.at(-1)?.kill('SIGKILL');
        service.startWorker();
      }
      await service.untilReady();
      await cancelling;
      // The API may have been killed before it had heard of it. It is asked again only then.
      const { body } = await dan.get<WireDocument>(`/documents/${id}`);
      if (body.system_metadata.status !== 'cancelled') await dan.send('POST', `/documents/${id}/cancel`);
    });
  }
  await until(async () => (await idsOf(dan)).length === ids.length);
  await sleep(2_000);
  expect(await idsOf(dan)).toEqual(ids.sort());
}, 180_000);
