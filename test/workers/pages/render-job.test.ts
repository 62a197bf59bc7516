import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Content, DocumentRecord } from '../../../src/shared/document.js';
import { createPagePictures } from '../../../src/shared/page-pictures/page-pictures.js';
import { createPageWaits } from '../../../src/shared/page-pictures/page-waits.js';
import { IngestError } from '../../../src/shared/errors.js';
import type { RenderRequest } from '../../../src/workers/parse/pool.js';
import { createPageTurns } from '../../../src/workers/pages/page-turns.js';
import { createRenderJob } from '../../../src/workers/pages/render-job.js';
import { until } from '../../support/until.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
const pictures = createPagePictures(redis);
const waits = createPageWaits(redis);
const CONTESTED = 200;
const PATIENCE = 1_500;
/** The time that a request for a page waits. */
const WAIT = 3_000;
let lastDocument = 0;

/** Ends what is still rendered after a test. */
let stopping = new AbortController();
afterEach(() => {
  stopping.abort(new Error('stopped'));
  stopping = new AbortController();
});

interface Rendering {
  /** Milliseconds after which a page of a caller named slow is too late. */
  readonly lateAfter?: number;
  /** Milliseconds that a page takes of another caller. */
  readonly takes?: (callerId: string) => number;
  /** Milliseconds after which a page gives way. */
  readonly contested?: number;
}

/** Renders pages of which those of callers named slow end only when they are given up, or too late. */
function start({ lateAfter = 60_000, takes = () => 0, contested = CONTESTED }: Rendering = {}) {
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
      await sleep(takes(callerId), undefined, signal && { signal });
      return Buffer.from(callerId);
    },
  };
  const render = createRenderJob({
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
    turns: createPageTurns({ contestedMilliseconds: contested, patienceMilliseconds: PATIENCE }),
    metrics: {
      add: () => undefined,
      observe: (_name, labels) => outcomes.push(String('outcome' in labels && labels.outcome)),
    },
    requireMemory: () => Promise.resolve(),
  });
  const ask = async (callerId: string, page: number, generation = `g${String((lastDocument += 1))}`) => {
    const wait = await waits.enter(callerId, WAIT);
    const job = { documentId: generation, generation, page, highlight: null, wait, callerId, requestId: 'r' };
    const end = await render(job, stopping.signal);
    await waits.leave(callerId, wait);
    return { end, outcome: await pictures.outcome({ generation, page, highlight: null }) };
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
    expect(outcomes).toEqual(['gave_way', 'rendered']);
    // The page that gave way is begun anew beside the page of the other, and the next one when nobody else waits any more.
    await until(() => rendered.length === 4);
    expect(rendered.toSorted()).toEqual(['other', 'slow', 'slow', 'slow']);
  });

  test('are rendered one at a time for a caller, and what others have used counts', async () => {
    const { ask, rendered } = start({ lateAfter: 150 });
    const slow = [ask('slow', 1), ask('slow', 2), ask('slower', 1)];
    await Promise.all(slow);
    expect(rendered).toEqual(['slow', 'slower', 'slow']);
  });

  test('are refused for a while, whatever is marked on them, and no other page of their document is', async () => {
    const { ask, rendered } = start({ lateAfter: 10 });
    const generation = 'late';
    const { outcome } = await ask('slow', 7, generation);
    expect(outcome).toMatchObject({ type: 'failed', code: 'timeout' });
    const id = { generation, page: 7, highlight: '3' };
    expect(await pictures.outcome(id)).toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('took too long') as unknown,
    });
    expect((await ask('other', 7, generation)).outcome).toMatchObject({ code: 'timeout' });
    expect(rendered).toEqual(['slow']);
    expect((await ask('other', 8, generation)).outcome).toMatchObject({ type: 'rendered' });
  });

  test('are drawn however steadily others come, who wait no longer for it than before', async () => {
    const { ask, rendered, outcomes } = start({
      takes: (caller) => (caller === 'heavy' ? 5 * CONTESTED : 20),
    });
    let isOver = false;
    const waited: number[] = [];
    const light = Array.from({ length: 4 }, async (_, n) => {
      // Each page is asked for by somebody who has used nothing.
      for (let page = 1; !isOver; page += 1) {
        const began = performance.now();
        await ask(`light ${String(n)} ${String(page)}`, page);
        waited.push(performance.now() - began);
      }
    });
    const began = performance.now();
    const { outcome } = await ask('heavy', 1);
    const took = performance.now() - began;
    isOver = true;
    await Promise.all(light);
    expect(outcome).toMatchObject({ type: 'rendered' });
    expect(took).toBeLessThan(20 * CONTESTED);
    expect(rendered.filter((caller) => caller === 'heavy').length).toBeLessThanOrEqual(2);
    expect(outcomes.filter((each) => each === 'failed')).toEqual([]);
    expect(waited.length).toBeGreaterThan(10);
    expect(Math.max(...waited)).toBeLessThan(10 * CONTESTED);
  });

  test('are then left to finish, callers in turn, and one of a caller also after its request has left', async () => {
    const { ask, rendered } = start({ takes: () => 8 * CONTESTED });
    // Known to take long, from a worker that had them before.
    const all = ['many', 'many', 'many', 'few'].map((by, n) => ({ by, id: `${by} ${String(n)}` }));
    for (const { id } of all) await pictures.noteSlow({ generation: id, page: 1 });
    const asked = all.map(({ by, id }) => ask(by, 1, id));
    const ends = await Promise.all(asked);
    expect(ends.map(({ end }) => end)).toEqual(['done', 'done', 'stale', 'done']);
    expect(rendered).toEqual(['many', 'many', 'few']);
    // It is drawn although it took longer than its request waits.
    expect(3 * 8 * CONTESTED).toBeGreaterThan(WAIT);
    expect(ends[3]?.outcome).toMatchObject({ type: 'rendered' });
  }, 30_000);

  test('count for their caller there as well, who then goes after others in the first place', async () => {
    const { ask, rendered } = start({ takes: () => 800, contested: WAIT });
    await pictures.noteSlow({ generation: 'drawn at last', page: 1 });
    await ask('used', 1, 'drawn at last');
    const first = ask('first', 1);
    await until(() => rendered.includes('first'));
    const used = ask('used', 2);
    await sleep(20);
    await Promise.all([first, used, ask('unused', 1)]);
    expect(rendered).toEqual(['used', 'first', 'unused', 'used']);
  });

  test('and any page that finds no turn for long goes to where callers are in turn', async () => {
    const { ask, rendered } = start({ takes: (caller) => (caller === 'used' ? 20 : 100) });
    await ask('used', 1);
    let isOver = false;
    const light = Array.from({ length: 12 }, async (_, n) => {
      for (let page = 1; !isOver; page += 1) await ask(`light ${String(n)} ${String(page)}`, page);
    });
    await sleep(100);
    const { outcome } = await ask('used', 2);
    isOver = true;
    await Promise.all(light);
    expect(outcome).toMatchObject({ type: 'rendered' });
    expect(rendered.filter((caller) => caller === 'used')).toHaveLength(2);
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
      highlight: null,
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
