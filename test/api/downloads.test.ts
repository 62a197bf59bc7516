import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createDownloadLinks } from '../../src/api/services/documents/downloads.js';
import { SECRET } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, documentOf, type User } from '../support/document-client.js';
import { playIngest } from '../support/play-worker.js';

let api: DocumentApi;
let user: User;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 0 });
  user = createUser(api, 'über user');
});
afterAll(async () => {
  await api.close();
});

/** The address that a search would return, as a path. */
async function clientAddressOf(
  id: string,
  { callerId = user.name, links = api.links } = {},
): Promise<string | null> {
  const record = await api.records.read(id);
  if (!record) throw new Error('no such document');
  return links.urlFor(record, { principal: { id: callerId }, baseUrl: '' });
}
const open = (address: string | null) => api.request(address ?? '/no-address');
const refusal = [403, { detail: 'Invalid or expired download address' }];

describe('a download', () => {
  test('is the file byte by byte, as an attachment that no browser opens', async () => {
    const bytes = await readFile(fileURLToPath(import.meta.url));
    const answer = await user.upload(new Blob([bytes]), 'naïve %; ü.html');
    const id = documentOf(answer).external_id;
    const download = await user.get(`/documents/${id}/download`);
    expect(download.status).toBe(200);
    expect(download.text).toBe(bytes.toString('utf8'));
    expect(download.headers.get('content-length')).toBe(String(bytes.length));
    expect(download.headers.get('content-disposition')).toMatch(
      /^attachment; .*na%C3%AFve%20%25%3B%20%C3%BC\.html/,
    );
    expect(download.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('of ingested text is the text as an attachment, under its name or the id', async () => {
    const [named, nameless] = [await user.ingest('ä text', { filename: 'a.txt' }), await user.ingest('b')];
    const download = await user.get(`/documents/${named}/download`);
    expect(download.text).toBe('ä text');
    expect(download.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(download.headers.get('content-disposition')).toContain('a.txt');
    const other = await user.get(`/documents/${nameless}/download`);
    expect(other.headers.get('content-disposition')).toContain(`${nameless}.txt`);
  });
});

describe('a signed address', () => {
  test('opens the file without a token', async () => {
    const id = documentOf(await user.upload('# words', 'a.md')).external_id;
    const download = await open(await clientAddressOf(id));
    expect([download.status, download.text]).toEqual([200, '# words']);
  });

  test('does not exist for ingested text', async () => {
    expect(await clientAddressOf(await user.ingest('text'))).toBeNull();
  });

  test('is refused when any part of it was changed', async () => {
    const [one, two] = [await user.upload('one', 'a.txt'), await user.upload('two', 'b.txt')].map(
      (answer) => documentOf(answer).external_id,
    );
    if (one === undefined || two === undefined) throw new Error('unreachable');
    const address = new URL((await clientAddressOf(one)) ?? '', 'http://x');
    const changed = (change: (url: URL) => void) => {
      const copy = new URL(address);
      change(copy);
      return copy.pathname + copy.search;
    };
    const expires = address.searchParams.get('expires') ?? '';
    const signature = address.searchParams.get('signature') ?? '';
    const attempts = [
      changed((url) => (url.pathname = `/downloads/${two}`)),
      changed((url) => (url.pathname = '/downloads/x')),
      changed((url) => {
        url.searchParams.set('caller', 'somebody');
      }),
      changed((url) => {
        url.searchParams.set('expires', String(Number(expires) + 1));
      }),
      changed((url) => {
        url.searchParams.set('expires', '1e99');
      }),
      changed((url) => {
        url.searchParams.set(
          'signature',
          `A${signature.slice(1)}` === signature ? 'B' : `A${signature.slice(1)}`,
        );
      }),
      changed((url) => {
        url.searchParams.delete('signature');
      }),
      changed((url) => (url.search = '')),
    ];
    for (const attempt of attempts) {
      const answer = await open(attempt);
      expect([answer.status, answer.body]).toEqual(refusal);
    }
    expect((await open(address.pathname + address.search)).status).toBe(200);
  });

  test('is refused once it has expired', async () => {
    const id = documentOf(await user.upload('text', 'a.txt')).external_id;
    const expired = createDownloadLinks({ secrets: [SECRET], validSeconds: -1 });
    const answer = await open(await clientAddressOf(id, { links: expired }));
    expect([answer.status, answer.body]).toEqual(refusal);
  });

  test('is refused when signed with another secret, but not with the previous one', async () => {
    const id = documentOf(await user.upload('text', 'a.txt')).external_id;
    const foreign = createDownloadLinks({ secrets: ['x'.repeat(32)], validSeconds: 60 });
    const address = await clientAddressOf(id, { links: foreign });
    expect((await open(address)).status).toBe(403);
    const changing = createDownloadLinks({ secrets: [SECRET, 'x'.repeat(32)], validSeconds: 60 });
    const {
      caller = '',
      expires = '',
      signature = '',
    } = Object.fromEntries(new URL(address ?? '', 'http://x').searchParams);
    expect(changing.verify(id, { caller, expires, signature })).toEqual({
      documentId: id,
      principal: { id: user.name },
    });
  });

  test('is no way around access: it is checked when it is opened', async () => {
    const friend = createUser(api, 'friend');
    const id = documentOf(await user.upload('text', 'a.txt')).external_id;
    await user.send('PATCH', `/documents/${id}`, { access_control: { readers: [friend.name] } });
    const address = await clientAddressOf(id, { callerId: friend.name });
    expect((await open(address)).status).toBe(200);
    await user.send('PATCH', `/documents/${id}`, { access_control: { readers: [] } });
    const revoked = await open(address);
    expect([revoked.status, revoked.body]).toEqual([403, { detail: 'Insufficient permissions' }]);
    await user.send('DELETE', `/documents/${id}`);
    expect((await open(address)).status).toBe(404);
  });

  test('opens the newest published version', async () => {
    const id = documentOf(await user.upload('old', 'a.txt')).external_id;
    await playIngest(api, id, ['old']);
    const address = await clientAddressOf(id);
    await user.upload('new', 'b.txt', `/documents/${id}/content`);
    expect((await open(address)).text).toBe('old');
    await playIngest(api, id, ['new']);
    expect((await open(address)).text).toBe('new');
  });
});
