import { expect, test } from '@jest/globals';
import { createRenderPage } from '../../../../src/api/services/documents/read-page.js';
import { createRequireRoom } from '../../../../src/api/services/ingest/admission/require-room.js';
import { rejection } from '../../../support/rejection.js';

test('a page is not drawn where there is no room for its picture, and nothing is begun for it', async () => {
  const begun: string[] = [];
  const note = (what: string) => () => Promise.resolve(void begun.push(what));
  const renderPage = createRenderPage({
    pictures: { outcome: () => Promise.resolve(null) },
    waits: { enter: () => note('wait')().then(() => 'wait'), leave: note('leave') },
    jobs: { addRender: note('job') },
    waiter: {
      waitFor: () => Promise.reject(new Error('nothing is waited for')),
      listen: () => () => undefined,
      stopping: new AbortController().signal,
      close: () => undefined,
    },
    room: createRequireRoom({
      state: () => Promise.resolve({ used: 1, share: 2, max: 3 }),
      shortage: () => Promise.resolve('disk'),
      isShort: () => Promise.resolve(true),
      isFull: () => Promise.resolve(false),
    }),
  });
  const asked = renderPage(
    { generation: 'g', page: 1, highlight: null },
    {
      documentId: 'd',
      principal: { id: 'ann' },
      requestId: 'r',
      signal: new AbortController().signal,
      end: performance.now() + 15_000,
    },
  );
  expect(await rejection(asked)).toMatchObject({
    kind: 'try_later',
    message: 'There is no room for pictures of pages: the disk is nearly full',
  });
  expect(begun).toEqual([]);
});
