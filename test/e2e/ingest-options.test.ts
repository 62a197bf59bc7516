import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { RecursiveCharacterTextSplitter } from '@langchain/textsplitters';
import { LANES } from '../../src/shared/queues/lanes.js';
import { countTokens } from '../../src/shared/text/token-count.js';
import type { Client, WireChunk, WireDocument } from '../support/client.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';
import { whilePaused } from '../support/paused-queues.js';

const LONG = readFileSync('README.md', 'utf8');
const SHORT = LONG.slice(0, 4_000);
const PDF = readFileSync('docs/tutorial/rain-gauge.pdf');

interface ListedChunk extends Pick<WireChunk, 'content' | 'location'> {
  readonly chunk_number: number;
}

async function chunksOf(client: Client, id: string): Promise<ListedChunk[]> {
  const found: ListedChunk[] = [];
  for (;;) {
    const path = `/documents/${id}/chunks?limit=100&skip=${String(found.length)}`;
    const { body } = await client.get<ListedChunk[]>(path);
    found.push(...body);
    if (body.length < 100) return found;
  }
}

function formOf(bytes: Uint8Array, filename: string, fields: Record<string, unknown>): FormData {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(bytes)]), filename);
  for (const [name, value] of Object.entries(fields))
    form.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  return form;
}

const sendFile = (client: Client, ...of: Parameters<typeof formOf>) =>
  client.send<WireDocument>('POST', '/ingest/file', { body: formOf(...of) });

describeOnEachSharedIndex((service) => {
  test.each([
    ['short', SHORT],
    ['long', LONG],
  ])('a %s text has the chunks that LangChain makes, on the lines that they tell', async (kind, text) => {
    const client = service.client(`splitting a ${kind} text`);
    const chunking = { size: 60, overlap: 12, splitter: 'markdown' };
    const { status, body } = await client.ingestText(text, { chunking });
    expect(status).toBe(200);
    const ofPackage = await RecursiveCharacterTextSplitter.fromLanguage('markdown', {
      chunkSize: 60,
      chunkOverlap: 12,
      lengthFunction: countTokens,
    }).splitText(text);
    // A chunk that only repeats the end of the one before is left out.
    const expected = ofPackage.filter((each, i) => ofPackage[i - 1]?.endsWith(each) !== true);
    const chunks = await chunksOf(client, body.external_id);
    expect(chunks.map(({ content }) => content)).toEqual(expected);
    const lines = text.split('\n');
    for (const { content, location } of chunks) {
      const { first, last } = location?.lines ?? { first: 0, last: 0 };
      expect(lines.slice(first - 1, last).join('\n')).toContain(content);
      expect(content.split('\n')).toHaveLength(last - first + 1);
    }
    const { body: hits } = await client.searchChunks('Who may copy, and what is it that the sweeper finds?', {
      k: 5,
    });
    for (const { content } of hits) expect(expected).toContain(content);
  });

  test('a PDF that is cut so has its pages, and quotes are parts of its passages on them', async () => {
    const client = service.client('splitting a PDF');
    const chunking = { size: 40, overlap: 8, splitter: 'recursive' };
    const { status, body } = await sendFile(client, PDF, 'rain-gauge.pdf', { chunking });
    expect(status).toBe(200);
    const whole = await sendFile(client, PDF, 'whole.pdf', { chunking: { size: 4_096, overlap: 0 } });
    const pages = new Map<number, string>();
    for (const { content, location } of await chunksOf(client, whole.body.external_id)) {
      const { first = 0, last = 0 } = location?.pages ?? {};
      for (let page = first; page <= last; page += 1) pages.set(page, `${pages.get(page) ?? ''}${content}`);
    }
    for (const { content, location } of await chunksOf(client, body.external_id)) {
      const { first = 0, last = 0 } = location?.pages ?? {};
      const held = Array.from({ length: last - first + 1 }, (_, i) => pages.get(first + i) ?? '').join('');
      expect(held).toContain(content);
      expect(location?.boxes?.length).toBeGreaterThan(0);
    }
    interface Source {
      readonly text: string;
      readonly quotes: readonly {
        readonly text: string;
        readonly start: number;
        readonly end: number;
        readonly page?: number;
      }[];
    }
    const asked = { query: 'How often is the rain gauge emptied?', k: 4, filters: {} };
    const { sources } = (await client.post<{ sources: Source[] }>('/query', asked)).body;
    const quotes = sources.flatMap(({ text, quotes: all }) =>
      all.map((quote) => ({ passage: text, ...quote })),
    );
    expect(quotes.length).toBeGreaterThan(0);
    for (const { passage, text, start, end, page } of quotes) {
      expect(passage.slice(start, end)).toBe(text);
      expect(pages.has(page ?? 0)).toBe(true);
    }
  });

  test('a source is replaced without a gap, cut as it was, and is found by its new content alone', async () => {
    const client = service.client('replacing a source');
    const source = { source_id: 'https://example.org/birds' };
    const chunking = { size: 16, overlap: 0, splitter: 'recursive' };
    const old = 'An old heron stands in the reeds. '.repeat(20);
    const first = await client.ingestText(old, { ...source, chunking, metadata: { kind: 'bird' } });
    expect(first.body.system_metadata.chunk_count).toBeGreaterThan(5);
    const find = async (query: string) =>
      (await client.searchChunks(query, { k: 100, filters: { kind: 'bird' } })).body.map(
        ({ content }) => content,
      );
    await whilePaused(service.redis.url, LANES, async () => {
      const later = await client.ingestText('A young egret flies. '.repeat(20), source, {
        prefer: 'respond-async',
      });
      expect(later.body.external_id).toBe(first.body.external_id);
      expect((await find('heron')).length).toBeGreaterThan(5);
      expect((await find('egret')).join()).not.toContain('egret');
    });
    const done = await client.ingestText('A young egret flies. '.repeat(20), source);
    expect(done.status).toBe(200);
    expect(done.body.system_metadata).toMatchObject({ version: 2, published_version: 2, chunking });
    expect(done.body.system_metadata.chunk_count).toBeGreaterThan(5);
    expect((await find('egret')).length).toBeGreaterThan(5);
    expect((await find('heron')).join()).not.toContain('heron');
  });
});
