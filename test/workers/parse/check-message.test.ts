import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { unpackReceipt } from '../../../src/shared/chunks/stored-receipt.js';
import { useParserPool } from '../../support/use-parser-pool.js';

const { startPool } = useParserPool();
const script = fileURLToPath(new URL('../../support/saying-parser.mjs', import.meta.url));

const receipt = { ...unpackReceipt('{}'), characters: 5, tokens: 1 };
const chunk = { text: 'Hello', tokenCount: 1, overlap: 0, location: null, section: [], spots: '' };
const chunks = (...said: unknown[]) => ({ type: 'chunks', id: 'task', chunks: said });
const done = (changes: object = {}, more: object = {}) => ({
  type: 'done',
  id: 'task',
  receipt: { ...receipt, ...changes },
  attachments: [],
  residentBytes: 1,
  ...more,
});
const attachment = { filename: 'a', content_type: 'b', size_bytes: 1, document_id: null, reason: null };
const kept = (position: unknown, file: unknown = 'a') => ({
  file,
  position,
  filename: null,
  contentType: 'x',
});
const failed = (changes: object) => ({
  type: 'failed',
  id: 'task',
  code: 'corrupt',
  message: 'x',
  residentBytes: 1,
  ...changes,
});

const box = { page: 1, x: 0, y: 0, width: 1, height: 1 };
const gap = { reason: 'empty', location: null, detail: 'x' };

/** Messages that a parser must not send, each as a list. */
const RUBBISH: Readonly<Record<string, readonly unknown[]>> = {
  nothing: [null],
  'a number': [7],
  'a message of no kind': [{ type: 'hello', id: 'task' }],
  'no id': [{ ...done(), id: 'other' }],
  'that a task is done that is still to come': [{ ...done(), id: 4_711 }],
  'that it is done without a text': [done({ characters: 0, tokens: 0 })],
  'a receipt of more than it has read': [chunks(chunk), done({ characters: 6 })],
  'no chunk at all': [chunks(), chunks(chunk), done()],
  'no receipt': [done({}, { receipt: null })],
  'a receipt that is a text': [done({}, { receipt: 'fine' })],
  'a parser that is a number': [done({ parser: 1 })],
  'a title of a megabyte': [done({ title: 'x'.repeat(1_000_000) })],
  'a part too little': [done({ parts: -1 })],
  'a part and a half': [done({ parts: 1.5 })],
  'no number of tokens': [done({ tokens: Infinity })],
  'more than sure': [done({ ocr: { pages: 1, confidence: 7 } })],
  'a gap of its own kind': [done({ gaps: [{ ...gap, reason: 'bored' }] })],
  'a count of its own kind': [done({ gap_counts: { bored: 1 } })],
  'a thousand gaps': [done({ gaps: Array.from({ length: 1_000 }, () => gap) })],
  'a gap nowhere': [done({ gaps: [{ ...gap, location: { pages: 'first' } }] })],
  'a document of another': [done({ attachments: [{ ...attachment, document_id: 'x' }] })],
  'a thousand attachments': [done({ attachments: Array.from({ length: 1_000 }, () => attachment) })],
  'a file that is none': [done({}, { attachments: [kept(0, { path: '/etc/passwd' })] })],
  'a file before the first': [done({}, { attachments: [kept(-1)] })],
  'two files in one place': [done({}, { attachments: [kept(0), kept(0)] })],
  'a code of its own': [failed({ code: 'bored' })],
  'a fault of the service': [failed({ code: 'internal' })],
  'a fault of the provider': [failed({ code: 'provider' })],
  'a reason of a megabyte': [failed({ message: 'x'.repeat(1_000_000) })],
  'a chunk that holds only what the one before holds': [chunks(chunk, { ...chunk, overlap: 5 }), done()],
  'a chunk without tokens': [chunks({ ...chunk, tokenCount: 0 }), done()],
  'a chunk with a heading of a page': [chunks({ ...chunk, section: ['x'.repeat(3_000)] }), done()],
  'a chunk on the page before the first': [
    chunks({ ...chunk, location: { pages: { first: 0, last: 1 } } }),
    done(),
  ],
  'a chunk in a sheet with a name of a megabyte': [
    chunks({ ...chunk, location: { sheet: 'x'.repeat(1_000_000) } }),
    done(),
  ],
  'a chunk nowhere': [chunks({ ...chunk, location: { pages: { first: 'one', last: null } } }), done()],
  'why it broke, at length': [{ type: 'broken', id: 'task', message: 'x'.repeat(1_000_000) }],
  'a chunk without a text': [chunks({ ...chunk, text: null }), done()],
  'a chunk of too many tokens': [chunks({ ...chunk, tokenCount: 1_000_000 }), done()],
  'a chunk that repeats more than it holds': [chunks({ ...chunk, overlap: 6 }), done()],
  'a chunk with places of a megabyte': [chunks({ ...chunk, spots: 'x'.repeat(1_000_000) }), done()],
  'a chunk with a thousand headings': [chunks({ ...chunk, section: Array(1_000).fill('x') }), done()],
  'a chunk longer than its tokens': [chunks({ ...chunk, text: 'x'.repeat(1_000_000) }), done()],
  'a gap in a sheet with a name of a megabyte': [
    done({ gaps: [{ ...gap, location: { sheet: 'x'.repeat(1_000_000) } }] }),
  ],
  'a gap with a thousand rectangles': [
    done({ gaps: [{ ...gap, location: { boxes: Array.from({ length: 1_000 }, () => box) } }] }),
  ],
  'more gaps than a file can have': [done({ gap_counts: { empty: Number.MAX_SAFE_INTEGER } })],
  'a picture of a text': [{ type: 'picture', id: 'task', part: 'AA' }, done()],
};

test.each(Object.entries(RUBBISH))(
  'a parser that says %s fails the document, and the next one is read',
  async (_name, said) => {
    const parser = startPool({ script });
    const parse = (messages: readonly unknown[]) =>
      parser.parse({ text: JSON.stringify(messages), format: 'text' });
    await expect(parse(said)).rejects.toMatchObject({ name: 'IngestError', code: 'corrupt' });
    expect(await parse([chunks(chunk), done()])).toMatchObject({ chunks: [{ text: 'Hello' }], receipt });
  },
);

test('a document is not at fault where its parser speaks of the one before', async () => {
  const parser = startPool({ script });
  const parse = (messages: readonly unknown[]) =>
    parser.parse({ text: JSON.stringify(messages), format: 'text' });
  await parse([chunks(chunk), done()]);
  // It is read again by another process, as whatever ends for a reason of our own.
  await expect(parse([{ ...done(), id: 1 }, chunks(chunk), done()])).rejects.toMatchObject({
    name: 'Error',
    message: expect.stringContaining('a document that is over'),
  });
  expect((await parse([chunks(chunk), done()])).chunks).toHaveLength(1);
});
