import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { decodePng } from '../../src/readers/formats/pictures/png.js';
import type { Raster } from '../../src/readers/formats/pictures/raster.js';
import type { Client } from '../support/client.js';
import { drawPdf } from '../support/drawn-pdf.js';
import { whilePaused } from '../support/paused-queues.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { until } from '../support/until.js';

const WIDTH = 400;
const HEIGHT = 300;
const LANES = ['ingestion-pages'] as const;

const pageOf = (...lines: readonly string[]) => {
  const shown = lines.map((line, i) => `1 0 0 1 40 ${String(240 - 30 * i)} Tm(${line})Tj`).join('\n');
  return { width: WIDTH, height: HEIGHT, content: `BT/F1 14 Tf\n${shown}\nET` };
};

/** A PDF of two pages with words that only it has, so that it is new to the service. */
const herons = (word: string) =>
  drawPdf({ pages: [pageOf(`The ${word} heron stands.`), pageOf(`A ${word} grebe dives below.`)] });

const chunksSchema = z.array(
  z.object({
    chunk_number: z.number(),
    location: z
      .object({
        boxes: z
          .array(
            z.object({
              page: z.number(),
              x: z.number(),
              y: z.number(),
              width: z.number(),
              height: z.number(),
            }),
          )
          .default([]),
      })
      .nullable(),
  }),
);

const boxSchema = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });
const sourcesSchema = z.array(
  z.object({
    document_id: z.string(),
    chunk_number: z.number(),
    text: z.string(),
    url: z.string(),
    page_url: z.string(),
    quotes: z.array(
      z.object({
        text: z.string(),
        start: z.number(),
        end: z.number(),
        page: z.number(),
        boxes: z.array(boxSchema),
      }),
    ),
  }),
);

const service = useService({ env: EVERYDAY });
let alice: Client;
let id = '';

async function ask(client: Client, path: string, init: RequestInit = {}) {
  const headers = { authorization: client.authorization };
  const response = await fetch(service.url + path, { ...init, headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes };
}

const detailOf = ({ bytes }: { readonly bytes: Buffer }): unknown =>
  z.object({ detail: z.unknown() }).parse(JSON.parse(bytes.toString())).detail;

const page = (number: number | string, highlight?: number | string, of = id) =>
  `/documents/${of}/pages/${String(number)}.png${highlight === undefined ? '' : `?highlight=${String(highlight)}`}`;

async function ingest(client: Client, word: string): Promise<string> {
  const { status, body } = await client.ingestFile(herons(word), `${word}.pdf`, { prefer: 'wait=60' });
  expect({ status, error: body.system_metadata.error }).toEqual({ status: 200, error: null });
  return body.external_id;
}

beforeAll(async () => {
  alice = service.client('alice');
  id = await ingest(alice, 'violet');
}, 90_000);

/** The colours of two pictures that differ within a part of them, in points from the top left corner, and outside. */
function differences(
  one: Raster,
  other: Raster,
  box: { x: number; y: number; width: number; height: number },
) {
  const scale = one.width / WIDTH;
  const counts = { inside: 0, outside: 0 };
  for (let y = 0; y < one.height; y += 1)
    for (let x = 0; x < one.width; x += 1) {
      const at = (y * one.width + x) * one.channels;
      const isSame = [0, 1, 2].every((colour) => one.pixels[at + colour] === other.pixels[at + colour]);
      if (isSame) continue;
      const isInside =
        x >= box.x * scale - 2 &&
        x <= (box.x + box.width) * scale + 2 &&
        y >= box.y * scale - 2 &&
        y <= (box.y + box.height) * scale + 2;
      counts[isInside ? 'inside' : 'outside'] += 1;
    }
  return counts;
}

describe('a page', () => {
  test('is a PNG of its size, which is for its reader alone', async () => {
    const { status, headers, bytes } = await ask(alice, page(1));
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('image/png');
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('content-disposition')).toMatch(/^inline; /);
    const { width, height } = decodePng(bytes);
    expect(width).toBeGreaterThanOrEqual(WIDTH);
    expect(width / height).toBeCloseTo(WIDTH / HEIGHT, 1);
    const head = await ask(alice, page(1), { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(bytes.length));
  });

  test('shows the passage of a chunk marked, and nothing else changed', async () => {
    const { body } = await alice.get(`/documents/${id}/chunks`);
    const chunks = chunksSchema.parse(body);
    const boxes = (chunks[0]?.location?.boxes ?? []).filter((box) => box.page === 2);
    const [box] = boxes;
    if (!box || boxes.length > 1) throw new Error('not one box on the second page');
    const [plain, marked] = await Promise.all([ask(alice, page(2)), ask(alice, page(2, 0))]);
    expect([plain.status, marked.status]).toEqual([200, 200]);
    const found = differences(decodePng(plain.bytes), decodePng(marked.bytes), box);
    expect(found.inside).toBeGreaterThan(100);
    expect(found.outside).toBe(0);
  });

  test('shows a part of a passage marked: the lines that an answer quotes, and no other', async () => {
    const query = { query: 'Where does the violet grebe dive?', k: 1 };
    const { body } = await alice.post<{ sources: unknown; completion: string }>('/query', query);
    const [source] = sourcesSchema.parse(body.sources);
    const quote = source?.quotes.find(({ text }) => text.includes('grebe'));
    const [box, ...others] = quote?.boxes ?? [];
    if (!source || !quote || !box) throw new Error('nothing is quoted');
    expect(body.completion).toMatch(/\[1\] violet\.pdf, page 2/);
    expect(source.text.slice(quote.start, quote.end)).toBe(quote.text);
    expect([quote.page, others]).toEqual([2, []]);
    const mark = `${String(source.chunk_number)}:${String(quote.start)}-${String(quote.end)}`;
    const view = `chunk=${String(source.chunk_number)}&quote=${String(quote.start)}-${String(quote.end)}`;
    expect(source.page_url).toBe(service.url + page(2, mark));
    expect(source.url).toBe(`${service.url}/view/${id}?${view}`);
    const [plain, marked] = await Promise.all([ask(alice, page(2)), ask(alice, page(2, mark))]);
    const found = differences(decodePng(plain.bytes), decodePng(marked.bytes), box);
    expect(found.inside).toBeGreaterThan(100);
    expect(found.outside).toBe(0);
  });

  test('is kept for a while: then no worker is needed, and who may not read still gets nothing', async () => {
    const first = await ask(alice, page(1, 0));
    await whilePaused(service.redis.url, LANES, async () => {
      const again = await ask(alice, page(1, 0));
      expect(again.status).toBe(200);
      expect(again.bytes.equals(first.bytes)).toBe(true);
      const stranger = await ask(service.client('mallory'), page(1, 0));
      expect([stranger.status, detailOf(stranger)]).toEqual([403, 'Insufficient permissions']);
    });
  });

  test('of a picture is the picture', async () => {
    const picture = (await ask(alice, page(1))).bytes;
    const { status, body } = await alice.ingestFile(picture, 'heron.png', { prefer: 'wait=90' });
    expect({ status, error: body.system_metadata.error }).toEqual({ status: 200, error: null });
    const shown = await ask(alice, page(1, undefined, body.external_id));
    expect(shown.status).toBe(200);
    const [before, after] = [decodePng(picture), decodePng(shown.bytes)];
    expect(after.width / after.height).toBeCloseTo(before.width / before.height, 1);
    const chunks = chunksSchema.parse((await alice.get(`/documents/${body.external_id}/chunks`)).body);
    expect(chunks[0]?.location?.boxes.length).toBeGreaterThan(0);
    const marked = decodePng((await ask(alice, page(1, 0, body.external_id))).bytes);
    // The words stand in the upper left part of the picture, and so must the mark.
    const words = { x: 0.05 * WIDTH, y: 0, width: 0.6 * WIDTH, height: 0.4 * HEIGHT };
    const found = differences(after, marked, words);
    expect(found.inside).toBeGreaterThan(100);
    expect(found.outside).toBe(0);
  }, 120_000);
});

describe('what cannot be shown', () => {
  test.each([
    [3, undefined, 404, 'The document has no page 3, but 2'],
    [1, 7, 404, 'The document has no chunk 7'],
  ])('page %p with chunk %p is answered %p', async (number, chunk, status, detail) => {
    const answer = await ask(alice, page(number, chunk));
    expect([answer.status, detailOf(answer)]).toEqual([status, detail]);
  });

  test.each([
    ['0', undefined, ['path', 'page']],
    ['one', undefined, ['path', 'page']],
    ['1', '-1', ['query', 'highlight']],
    ['1', 'all', ['query', 'highlight']],
  ])('page %p with chunk %p is answered 422', async (number, chunk, loc) => {
    const answer = await ask(alice, page(number, chunk));
    expect(answer.status).toBe(422);
    expect(detailOf(answer)).toEqual([expect.objectContaining({ loc })]);
  });

  test('a text has no pages, an unknown document neither, and what is not published waits for that', async () => {
    const text = (await alice.ingestText('A heron without pages.')).body.external_id;
    const missing = '00000000-0000-4000-8000-000000000000';
    const [of, unknown] = await Promise.all([ask(alice, page(1, 0, text)), ask(alice, page(1, 0, missing))]);
    expect([of.status, detailOf(of)]).toEqual([404, 'The document has no pages that can be shown']);
    expect([unknown.status, detailOf(unknown)]).toEqual([404, 'Document not found']);
    await whilePaused(service.redis.url, ['ingestion', 'ingestion-quick'], async () => {
      const queued = await alice.ingestFile(herons('queued'), 'queued.pdf', { prefer: 'respond-async' });
      const early = await ask(alice, page(1, undefined, queued.body.external_id));
      expect([early.status, detailOf(early)]).toEqual([409, 'The document has not been read yet']);
    });
  });

  test('a stranger learns nothing of pages and chunks, and nothing is rendered for them', async () => {
    const mallory = service.client('mallory');
    await whilePaused(service.redis.url, LANES, async () => {
      for (const path of [page(1), page(2, 0), page(3), page(1, 7)]) {
        const answer = await ask(mallory, path);
        expect([answer.status, detailOf(answer)]).toEqual([403, 'Insufficient permissions']);
      }
    });
  });
});

describe('while no worker renders', () => {
  test('a reader who is removed meanwhile gets nothing', async () => {
    const bob = service.client('bob');
    const document = await ingest(alice, 'shared');
    const readers = [service.caller('alice'), service.caller('bob')];
    const share = (names: readonly string[]) =>
      alice.patch(`/documents/${document}`, { access_control: { readers: names } });
    expect((await share(readers)).status).toBe(200);
    let asked: ReturnType<typeof ask> | undefined;
    await whilePaused(service.redis.url, LANES, async () => {
      asked = ask(bob, page(1, 0, document));
      await sleep(500);
      await share(readers.slice(0, 1));
    });
    const answer = await asked;
    expect(answer?.status).toBe(403);
    expect((await ask(alice, page(1, 0, document))).status).toBe(200);
  }, 90_000);

  test('a deletion meanwhile is noticed', async () => {
    const document = await ingest(alice, 'passing');
    let asked: ReturnType<typeof ask> | undefined;
    await whilePaused(service.redis.url, LANES, async () => {
      asked = ask(alice, page(1, undefined, document));
      await sleep(500);
      await alice.delete(`/documents/${document}`);
    });
    expect((await asked)?.status).toBe(404);
  }, 90_000);

  test('the answer is 503 in time, and the ninth page of a caller is refused at once', async () => {
    const document = await ingest(alice, 'patient');
    const gone = new AbortController();
    await whilePaused(service.redis.url, LANES, async () => {
      const started = performance.now();
      const first = ask(alice, page(1, undefined, document));
      await sleep(200);
      const others = Array.from({ length: 7 }, () =>
        ask(alice, page(2, undefined, document), { signal: gone.signal }).catch(() => null),
      );
      await sleep(1_000);
      const refused = await ask(alice, page(2, 0, document));
      expect([refused.status, detailOf(refused)]).toEqual([
        429,
        'Too many of your pages wait to be rendered',
      ]);
      expect(refused.headers.get('retry-after')).toBe('2');
      gone.abort();
      await Promise.all(others);
      const late = await first;
      expect([late.status, detailOf(late)]).toEqual([503, 'The page was not rendered in time']);
      expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(performance.now() - started).toBeLessThan(20_000);
    });
    // Callers who have gone wait no longer.
    await until(async () => (await ask(alice, page(2, 0, document))).status === 200);
  }, 120_000);
});
