import { describe, expect, jest, test } from '@jest/globals';
import { keys } from '../../../src/shared/redis/keys.js';
import { createPagePictures } from '../../../src/shared/page-pictures/page-pictures.js';
import { createPageWaits } from '../../../src/shared/page-pictures/page-waits.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
const MEGABYTE = 1024 ** 2;

describe('pictures of pages', () => {
  const pictures = createPagePictures(redis);
  const idOf = (page: number, highlight: string | null = null) => ({
    generation: 'g.1.1.a',
    page,
    highlight,
  });

  test('are told apart by page and chunk, and expire', async () => {
    const png = Buffer.from([0, 255, 10, 13]);
    await pictures.keep(idOf(1), png);
    await pictures.keep(idOf(1, '0'), Buffer.alloc(5));
    expect(await pictures.read(idOf(1))).toEqual(png);
    expect(await pictures.outcome(idOf(1))).toEqual({ type: 'rendered', bytes: 4 });
    expect(await pictures.outcome(idOf(1, '0'))).toEqual({ type: 'rendered', bytes: 5 });
    expect(await pictures.outcome(idOf(2))).toBeNull();
    const left = await redis.pTTL(keys.pagePicture('g.1.1.a', 1, null));
    expect(left).toBeGreaterThan(200_000);
    expect(left).toBeLessThanOrEqual(300_000);
  });

  test('a failure is kept for a shorter time, and a picture takes its place', async () => {
    await pictures.fail(idOf(3), { code: 'corrupt', message: 'The page is damaged.' });
    const failed = { type: 'failed', code: 'corrupt', message: 'The page is damaged.' };
    expect(await pictures.outcome(idOf(3))).toEqual(failed);
    expect(await redis.pTTL(keys.pagePicture('g.1.1.a', 3, null))).toBeLessThanOrEqual(30_000);
    await pictures.keep(idOf(3), Buffer.alloc(1));
    expect(await pictures.outcome(idOf(3))).toEqual({ type: 'rendered', bytes: 1 });
  });

  test('a page that takes too long is tried again after a minute, and ever later if it does so again', async () => {
    const id = idOf(4);
    const minutes: string[] = [];
    const now = jest.spyOn(Date, 'now');
    const start = Date.now();
    let minute = 0;
    for (const wait of [1, 4, 16, 60, 60]) {
      now.mockReturnValue(start + minute * 60_000);
      await pictures.fail(id, { code: 'timeout', message: 'Rendering the page took too long.' });
      const outcome = await pictures.outcome({ ...id, highlight: '2:0-9' });
      minutes.push(outcome?.type === 'failed' ? outcome.message : 'none');
      now.mockReturnValue(start + (minute + wait) * 60_000 - 1);
      expect(await pictures.outcome({ ...id, highlight: '2:0-9' })).toMatchObject({ code: 'timeout' });
      minute += wait;
      now.mockReturnValue(start + minute * 60_000);
      expect(await pictures.outcome({ ...id, highlight: '2:0-9' })).toBeNull();
    }
    now.mockRestore();
    const told = ['a minute', '4 minutes', '16 minutes', '60 minutes', '60 minutes'];
    expect(minutes).toEqual(
      told.map((time) => `Rendering it took too long, so that it is not tried again for ${time}.`),
    );
  });

  test('a page that takes too long with several chunks marked at once counts once', async () => {
    const id = idOf(5);
    for (const highlight of ['0', '1', '1:2-3'])
      await pictures.fail(
        { ...id, highlight },
        { code: 'timeout', message: 'Rendering the page took too long.' },
      );
    for (const highlight of ['0', '2', '3:0-9'])
      expect(await pictures.outcome({ ...id, highlight })).toMatchObject({
        message: 'Rendering it took too long, so that it is not tried again for a minute.',
      });
  });

  test('take 64 MiB together at most: the oldest make room', async () => {
    const large = Buffer.alloc(10 * MEGABYTE);
    for (let page = 10; page < 20; page += 1) await pictures.keep(idOf(page), large);
    const kept: number[] = [];
    for (let page = 10; page < 20; page += 1) if (await pictures.outcome(idOf(page))) kept.push(page);
    expect(kept).toEqual([14, 15, 16, 17, 18, 19]);
    expect(await redis.exists(keys.pagePicture('g.1.1.a', 10, null))).toBe(0);
    // The small ones came first.
    expect(await redis.zCard(keys.pagePictures)).toBe(6);
  });

  test('are 500 at most', async () => {
    for (let page = 100; page < 620; page += 1) await pictures.keep(idOf(page), Buffer.alloc(1));
    expect(await redis.zCard(keys.pagePictures)).toBeLessThanOrEqual(500);
    expect(await pictures.outcome(idOf(100))).toBeNull();
    expect(await pictures.outcome(idOf(619))).not.toBeNull();
  });
});

describe('waits for pages', () => {
  const waits = createPageWaits(redis, { all: 3, perCaller: 2 });

  test('are bounded for each caller and altogether, and end when their time is over', async () => {
    const first = await waits.enter('alice', 60_000);
    const second = await waits.enter('alice', 60_000);
    await expect(waits.enter('alice', 60_000)).rejects.toMatchObject({
      kind: 'too_many',
      retryAfterSeconds: 2,
    });
    const other = await waits.enter('bob', 300);
    await expect(waits.enter('carol', 60_000)).rejects.toMatchObject({ kind: 'try_later' });
    expect(await waits.isWaiting('alice', first)).toBe(true);
    expect(await waits.isWaiting('bob', first)).toBe(false);
    await waits.leave('alice', first);
    expect(await waits.isWaiting('alice', first)).toBe(false);
    expect(await waits.isWaiting('alice', second)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 350));
    expect(await waits.isWaiting('bob', other)).toBe(false);
    await waits.enter('carol', 60_000);
    await waits.enter('carol', 60_000);
  });
});
