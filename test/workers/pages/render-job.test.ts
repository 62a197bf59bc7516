import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Content, DocumentRecord } from '../../../src/shared/document.js';
import { createDecayedUsage } from '../../../src/shared/fair-scheduling/decayed-usage.js';
import { createTurns } from '../../../src/shared/fair-scheduling/turns.js';
import { createPagePictures } from '../../../src/shared/page-pictures/page-pictures.js';
import { createPageWaits } from '../../../src/shared/page-pictures/page-waits.js';
import { IngestError } from '../../../src/shared/errors.js';
import type { RenderRequest } from '../../../src/workers/parse/pool.js';
import { createRenderPage } from '../../../src/workers/pages/render-job.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
const pictures = createPagePictures(redis);
const waits = createPageWaits(redis);
const CONTESTED = 200;
let lastDocument = 0;

/** Ends what is still rendered after a test. */
let stopping = new AbortController();
afterEach(() => {
  stopping.abort(new Error('stopped'));
  stopping = new AbortController();
});

/** Renders pages of which those of callers named slow end only when they are given up, or too late. */
function start({ lateAfter = 60_000 }: { lateAfter?: number } = {}) {
  const rendered: string[] = [];
  const outcomes: string[] = [];
  const parser = {
    incoming: '/tmp',
    render: async ({ callerId = '', signal }: Pick<RenderRequest, 'callerId' | 'signal'>) => {
      rendered.push(callerId);
      if (callerId.startsWith('slow')) {
        await sleep(lateAfter, undefined, signal && { signal });
        throw new IngestError('timeout', 'Reading the document took too long.');
      }
      return Buffer.from(callerId);
    },
  };
  const render = createRenderPage({
    // @NOTE the job reads nothing else of a record
    records: {
      read: (id) =>
        Promise.resolve({ published: { generation: id } as unknown as Content } as DocumentRecord),
    },
    chunks: { readTexts: () => Promise.resolve([]) },
    storage: { open: () => Promise.resolve(Object.assign(source(), { size: 1 })) },
    parser,
    pictures,
    waits,
    turns: createTurns(1, { usage: createDecayedUsage() }),
    contestedMilliseconds: CONTESTED,
    metrics: {
      add: () => undefined,
      observe: (_name, labels) => outcomes.push(String('outcome' in labels && labels.outcome)),
    },
    requireMemory: () => Promise.resolve(),
  });
  const ask = async (callerId: string, page: number, generation = `g${String((lastDocument += 1))}`) => {
    const wait = await waits.enter(callerId, 15_000);
    const job = { documentId: generation, generation, page, chunk: null, wait, callerId, requestId: 'r' };
    const end = await render(job, stopping.signal);
    await waits.leave(callerId, wait);
    return { end, outcome: await pictures.outcome({ generation, page, chunk: null }) };
  };
  return { ask, rendered, outcomes, render };
}

async function* source() {
  yield await Promise.resolve(new Uint8Array(1));
}

describe('pages that take long', () => {
  test('give way to a page of another, whose caller then goes before all others of the first', async () => {
    const { ask, rendered, outcomes } = start();
    const slow = Array.from({ length: 4 }, (_, page) => ask('slow', page + 1));
    for (const each of slow) each.catch(() => undefined);
    await sleep(CONTESTED);
    const began = performance.now();
    expect(await ask('other', 1)).toMatchObject({ end: 'done', outcome: { type: 'rendered' } });
    expect(performance.now() - began).toBeLessThan(5 * CONTESTED);
    expect(rendered.slice(0, 2)).toEqual(['slow', 'other']);
    expect(outcomes).toEqual(['gave_way', 'rendered']);
    const [first] = slow;
    expect(await first).toMatchObject({
      outcome: { code: 'internal', message: expect.stringContaining('others wait') as unknown },
    });
    // Nobody else waits any more, so that the next one goes on.
    await sleep(2 * CONTESTED);
    expect(rendered).toEqual(['slow', 'other', 'slow']);
  });

  test('are rendered one at a time for a caller, and what others have used counts', async () => {
    const { ask, rendered } = start({ lateAfter: 300 });
    const slow = [ask('slow', 1), ask('slow', 2), ask('slower', 1)];
    await Promise.all(slow);
    expect(rendered).toEqual(['slow', 'slower', 'slow']);
  });

  test('are refused from then on, whatever is marked on them, and no other page of their document is', async () => {
    const { ask, rendered } = start({ lateAfter: 10 });
    const generation = 'late';
    const { outcome } = await ask('slow', 7, generation);
    expect(outcome).toMatchObject({ type: 'failed', code: 'timeout' });
    const id = { generation, page: 7, chunk: 3 };
    expect(await pictures.outcome(id)).toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('took too long') as unknown,
    });
    expect((await ask('other', 7, generation)).outcome).toMatchObject({ code: 'timeout' });
    expect(rendered).toEqual(['slow']);
    expect((await ask('other', 8, generation)).outcome).toMatchObject({ type: 'rendered' });
  });

  test('take no turn for a request that has left', async () => {
    const { ask, rendered, render } = start();
    void ask('slow', 1).catch(() => undefined);
    await sleep(50);
    const wait = await waits.enter('slow', 15_000);
    const job = {
      documentId: 'left',
      generation: 'left',
      page: 1,
      chunk: null,
      wait,
      callerId: 'slow',
      requestId: 'r',
    };
    const left = render(job, stopping.signal);
    await sleep(50);
    await waits.leave('slow', wait);
    expect(await left).toBe('stale');
    expect(rendered).toEqual(['slow']);
  });
});
