import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { useParserPool } from '../../support/use-parser-pool.js';

const script = fileURLToPath(new URL('../../support/hear-raw-parser.mjs', import.meta.url));

test.each([
  ['a line that is no JSON', 'this is no JSON\n'],
  ['a line without end', 'endless'],
  ['nothing at all on a line', '\n'],
  ['an acknowledgement that nobody waits for', '{"cmd":"NODE_HANDLE_NACK"}\n{"cmd":"NODE_HANDLE_ACK"}\n'],
])('a parser that writes %s to its channel does not end its worker', (_name, written) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, written], { encoding: 'utf8' });
  expect({ status, stdout, stderr: stderr.slice(0, 200) }).toMatchObject({ status: 0, stdout: 'corrupt' });
});

const { startPool } = useParserPool();
const raw = fileURLToPath(new URL('../../support/raw-parser.mjs', import.meta.url));

/** More than a full machine takes for what takes a second on an idle one. */
const TIME_MILLISECONDS = 200_000;

const flood = (message: object) => `flood ${JSON.stringify(message)}`;
const chunk = (text: string, overlap: number) => {
  const chunks = [{ text, tokenCount: 1, overlap, location: null, section: [], spots: '' }];
  return flood({ type: 'chunks', id: 'task', chunks });
};

test.each([
  ['chunks without end', chunk('x', 0), 'too_large'],
  ['more text than its document can hold', chunk('x'.repeat(60_000), 0), 'too_large'],
  ['the same text again and again', chunk('x'.repeat(60_000), 59_999), 'too_large'],
  ['how far it is', flood({ type: 'progress', id: 'task', share: 0.5 }), 'too_large'],
  ['empty messages', flood({ type: 'chunks', id: 'task', chunks: [] }), 'corrupt'],
  ['messages about another document', flood({ type: 'progress', id: 'other', share: 0.5 }), undefined],
  ['that it is ready', flood({ type: 'ready' }), 'corrupt'],
  ['messages about documents to come', flood({ type: 'progress', id: 4_711, share: 0.5 }), 'corrupt'],
])('a parser that says %s without end is ended long before its time is over', async (_name, said, code) => {
  const parser = startPool({ script: raw, timeoutMilliseconds: TIME_MILLISECONDS, maxChunks: 20_000 });
  const began = performance.now();
  const before = process.memoryUsage.rss();
  await expect(parser.parse({ text: said, format: 'text' })).rejects.toMatchObject(
    code === undefined ? { name: 'Error' } : { name: 'IngestError', code },
  );
  expect(performance.now() - began).toBeLessThan(TIME_MILLISECONDS / 2);
  expect(process.memoryUsage.rss() - before).toBeLessThan(256 * 1024 * 1024);
});
