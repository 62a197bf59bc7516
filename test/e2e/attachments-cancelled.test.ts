import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openQueue } from '../../src/shared/queues/lanes.js';
import { createClient, type WireDocument } from '../support/client.js';
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

test('attachments of new content that is cancelled are not found', async () => {
  const ann = createClient(service.url, 'ann');
  const bob = createClient(service.url, 'bob');
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(writeMail({ subject: 'first' }))]), 'mail.eml');
  form.set('access_control', JSON.stringify({ readers: ['bob'] }));
  const { body: mail } = await ann.send<WireDocument>('POST', '/ingest/file', { body: form });
  const files = [{ name: 'salaries.txt', type: 'text/plain', bytes: 'The cormorant earns most.' }];
  const mistake = new FormData();
  mistake.set(
    'file',
    new Blob([new Uint8Array(writeMail({ subject: 'mistake', text: 'Herons.', files }))]),
    'mail.eml',
  );
  const headers = { prefer: 'respond-async' };
  await whilePaused(service.redis.url, lanesOf('embedding'), async () => {
    await ann.send('PUT', `/documents/${mail.external_id}/content`, { body: mistake, headers });
    // It has been read, with what it carries, once its own text waits to be embedded.
    await until(async () => (await waitingToEmbed()) > 0);
    await ann.send('POST', `/documents/${mail.external_id}/cancel`);
  });
  // What is to be made or removed may take the workers a moment.
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const { body: found } = await bob.searchChunks('cormorant');
  expect(found.map(({ content }) => content)).not.toContain('The cormorant earns most.');
}, 120_000);
