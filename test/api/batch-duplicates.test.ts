import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { remove } from '../../src/shared/documents/transitions.js';
import { keys } from '../../src/shared/redis/keys.js';
import { idsIn, outcomesIn, waysOfSending, type BatchItem } from '../support/batch-requests.js';
import { inShort } from '../support/batches.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { documentsOf, newKey } from '../support/keyed-requests.js';
import { playFailure, playIngest } from '../support/play-worker.js';
import { until } from '../support/until.js';
import { waitsForKnown } from '../support/waits-for-known.js';

let api: DocumentApi;

beforeAll(async () => {
  // Nothing here waits so long: what is waited for is played, and a client leaves before its answer comes.
  api = await startDocumentApi({ waitSeconds: 60 });
});
afterAll(async () => {
  await api.close();
});

describe.each(waysOfSending(() => api))('contents that are there already, %s', (way, send) => {
  const as = (name: string) => `${name} ${way}`;

  test('within the batch: by default each is a document, `return` names the first, `reject` refuses', async () => {
    const answer = await send(
      [
        ['same'],
        ['other', 'reject'],
        ['same', 'return'],
        ['same', 'reject'],
        ['same', 'new'],
        ['other', 'return'],
      ],
      { as: as('within') },
    );
    const outcomes = outcomesIn(answer);
    expect(outcomes.map(inShort)).toEqual([
      [0, 'queued'],
      [1, 'queued'],
      [2, 'queued'],
      [3, 'value_error.duplicate'],
      [4, 'queued'],
      [5, 'queued'],
    ]);
    const [first = '', second = '', returned, , made, last] = idsIn(answer);
    expect([returned, last]).toEqual([first, second]);
    expect(outcomes[3]?.error).toMatchObject({ loc: ['body'], document_id: first });
    expect(outcomes[3]?.error?.msg).toContain(first);
    expect((await documentsOf(api, as('within'))).sort()).toEqual([first, second, made].sort());
  });

  test('many equal ones are one document', async () => {
    const items = Array.from({ length: 60 }, (): BatchItem => ['equal', 'return']);
    const answer = await send(items, { as: as('equal') });
    expect(new Set(idsIn(answer))).toEqual(new Set(await documentsOf(api, as('equal'))));
    expect(await documentsOf(api, as('equal'))).toHaveLength(1);
  });

  test('of an earlier batch', async () => {
    const asked = { as: as('across') };
    const [one = '', two = ''] = idsIn(await send([['one'], ['two']], asked));
    await playIngest(api, one, ['one']);
    const files = (await api.storedFiles()).length;
    const answer = await send(
      [
        ['two', 'return'],
        ['one', 'return'],
        ['two', 'reject'],
      ],
      asked,
    );
    expect(outcomesIn(answer)).toMatchObject([
      { index: 0, status: 'queued', document_id: two },
      { index: 1, status: 'completed', document_id: one },
      { index: 2, error: { type: 'value_error.duplicate', document_id: two } },
    ]);
    expect(answer.status).toBe(202);
    expect((await api.storedFiles()).length).toBe(files);
    expect((await send([['one', 'return']], asked)).status).toBe(200);
    expect(await documentsOf(api, as('across'))).toHaveLength(2);
  });

  test('waits for the document that is there', async () => {
    const asked = { as: as('waiting') };
    const [id = ''] = idsIn(await send([['same']], asked));
    const answering = send(
      [
        ['same', 'return'],
        ['same', 'return'],
      ],
      { ...asked, prefer: 'wait=60' },
    );
    await playIngest(api, id, ['same']);
    const answer = await answering;
    expect(answer.status).toBe(200);
    expect(outcomesIn(answer).map(({ status, document_id: of }) => [status, of])).toEqual([
      ['completed', id],
      ['completed', id],
    ]);
  });

  test('one that is deleted while it is waited for is an error that may end otherwise, and is not remembered', async () => {
    const asked = { as: as('deleted'), key: newKey() };
    const [id = ''] = idsIn(await send([['same']], { as: asked.as }));
    const items: BatchItem[] = [['same', 'return'], ['other']];
    const { answering } = await waitsForKnown(api.redis, () => send(items, { ...asked, prefer: 'wait=2' }));
    await api.records.update(id, remove);
    const first = await answering;
    expect(outcomesIn(first).map(inShort)).toEqual([
      [0, 'try_later.deleted'],
      [1, 'queued'],
    ]);
    const again = await send(items, asked);
    expect(outcomesIn(again).map(inShort)).toEqual([
      [0, 'queued'],
      [1, 'queued'],
    ]);
    expect(await documentsOf(api, asked.as)).toHaveLength(2);
  });

  test('of others do not count, nor documents that failed or were deleted', async () => {
    const [others = ''] = idsIn(await send([['secret']], { as: as('owner') }));
    const asked = { as: as('stranger') };
    const [failed = '', deleted = ''] = idsIn(await send([['failed'], ['deleted']], asked));
    await playFailure(api, failed, 'no_text');
    await api.records.update(deleted, remove);
    const answer = await send(
      [
        ['secret', 'return'],
        ['failed', 'return'],
        ['deleted', 'reject'],
      ],
      asked,
    );
    expect(outcomesIn(answer).map(inShort)).toEqual([
      [0, 'queued'],
      [1, 'queued'],
      [2, 'queued'],
    ]);
    for (const old of [others, failed, deleted]) expect(idsIn(answer)).not.toContain(old);
  });

  test('ten batches at once make each document once', async () => {
    const asked = { as: as('race') };
    const contents = Array.from({ length: 12 }, (_, i) => `content ${String(i)}`);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => {
        const turned = [...contents.slice(i), ...contents.slice(0, i)];
        return send(
          turned.map((content): BatchItem => [content, 'return']),
          asked,
        );
      }),
    );
    const ids = await documentsOf(api, asked.as);
    expect(ids).toHaveLength(12);
    for (const answer of answers) expect(idsIn(answer).sort()).toEqual([...ids].sort());
    const files = await api.storedFiles();
    const kept = await Promise.all(ids.map((id) => api.records.read(id)));
    const sources = kept
      .map((record) => record?.pending?.storageKey ?? '')
      .filter((key) => !key.startsWith('record/'));
    for (const source of sources) expect(files).toContain(source.split('/').pop());
  });

  test('leave no usage record of their own, and nothing behind', async () => {
    const asked = { as: as('counted') };
    const [id = ''] = idsIn(await send([['same']], asked));
    await playIngest(api, id, ['same']);
    const events = await api.redis.lLen(keys.usagePending(asked.as));
    const files = (await api.storedFiles()).length;
    await send(
      [
        ['same', 'return'],
        ['same', 'reject'],
      ],
      asked,
    );
    expect(await api.redis.lLen(keys.usagePending(asked.as))).toBe(events);
    await until(async () => (await api.storedFiles()).length === files);
  });

  test('a word that is none is an error of its item', async () => {
    const answer = await send(
      [
        ['a', 'ignore'],
        ['b', null],
        ['c', 'new'],
      ],
      { as: as('words') },
    );
    expect(outcomesIn(answer).map(inShort)).toEqual([
      [0, 'type_error.enum'],
      [1, 'queued'],
      [2, 'queued'],
    ]);
    expect(outcomesIn(answer)[0]?.error?.loc).toEqual(['body', 'on_duplicate']);
  });

  test('with a key: what the batch itself has made is no duplicate when it is sent again', async () => {
    const asked = { as: as('keyed'), key: newKey(), prefer: 'wait=100' };
    const items: BatchItem[] = [
      ['one', 'reject'],
      ['one', 'reject'],
      ['two', 'return'],
      ['two', 'return'],
    ];
    const leaving = new AbortController();
    const sent = send(items, { ...asked, signal: leaving.signal });
    await until(async () => (await documentsOf(api, asked.as)).length === 2);
    leaving.abort();
    await expect(sent).rejects.toThrow();
    const place = keys.idempotency(asked.as, asked.key);
    await until(async () => (await api.redis.hGet(place, 'until')) === '0');
    const again = await send(items, { ...asked, prefer: 'respond-async' });
    const [one = '', , two = '', three] = idsIn(again);
    expect(outcomesIn(again).map(inShort)).toEqual([
      [0, 'queued'],
      [1, 'value_error.duplicate'],
      [2, 'queued'],
      [3, 'queued'],
    ]);
    expect(three).toBe(two);
    expect((await documentsOf(api, asked.as)).sort()).toEqual([one, two].sort());
  });
});
