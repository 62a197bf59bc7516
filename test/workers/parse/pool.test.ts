import { describe, expect, test } from '@jest/globals';
import { strToU8, zipSync } from 'fflate';
import type { FileFormat } from '../../../src/readers/detection/formats.js';
import { IngestError } from '../../../src/shared/errors.js';
import { endlessPdf } from '../../support/pdfs.js';
import { parserChildren, useParserPool } from '../../support/use-parser-pool.js';
import { until } from '../../support/until.js';

const { startPool, file } = useParserPool();

describe('the parser pool', () => {
  test('reads texts and files, one after the other in the same process', async () => {
    const parser = startPool();
    expect((await parser.parse({ text: 'Hello.', format: 'text' })).chunks).toEqual([
      {
        text: 'Hello.',
        tokenCount: 2,
        overlap: 0,
        location: { lines: { first: 1, last: 1 } },
        section: [],
        spots: '',
      },
    ]);
    const [before] = parserChildren();
    expect((await parser.parse({ path: await file('# Title'), format: 'markdown' })).chunks).toHaveLength(1);
    expect(parserChildren()).toEqual([before]);
  });

  test('starts a process for the first document, and ends it when no other one comes', async () => {
    const parser = startPool({ size: 2, idleMilliseconds: 2_000 });
    expect(parserChildren()).toEqual([]);
    const { chunks } = await parser.parse({ path: await file('# Title'), format: 'markdown' });
    expect(chunks).toHaveLength(1);
    const [first, ...others] = parserChildren();
    expect(others).toEqual([]);
    // Each document puts the end off, and one process is enough for those that come one after the other.
    for (let count = 0; count < 3; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, 900));
      await parser.parse({ text: 'next', format: 'text' });
    }
    expect(parserChildren()).toEqual([first]);
    await until(() => parserChildren().length === 0);
    expect((await parser.parse({ text: 'after the end', format: 'text' })).chunks).toHaveLength(1);
    expect(parserChildren()).not.toContain(first);
  });

  test('never ends a process that reads, however long', async () => {
    const parser = startPool({ idleMilliseconds: 50, timeoutMilliseconds: 1_500 });
    await parser.parse({ text: 'before', format: 'text' });
    const endless = parser.parse({ path: await file(endlessPdf()), format: 'pdf' });
    await expect(endless).rejects.toMatchObject({ code: 'timeout' });
  });

  test('brings a large document over in order', async () => {
    const text = Array.from(
      { length: 120_000 },
      (_, index) => `Sentence number ${String(index)} says something.`,
    ).join(' ');
    const { chunks } = await startPool().parse({ text, format: 'text' });
    expect(chunks.map((chunk) => chunk.text.slice(chunk.overlap)).join('')).toBe(text);
  });

  test('ends an endless document at the clock, and goes on', async () => {
    const parser = startPool({ timeoutMilliseconds: 1_500 });
    await expect(parser.parse({ path: await file(endlessPdf()), format: 'pdf' })).rejects.toMatchObject({
      code: 'timeout',
    });
    expect((await parser.parse({ text: 'next', format: 'text' })).chunks).toHaveLength(1);
  });

  test('reads short texts while all of its processes are held up by endless files', async () => {
    const parser = startPool({ size: 1, timeoutMilliseconds: 60_000 });
    const endless = await file(endlessPdf());
    let ended = 0;
    const held = [1, 2].map(() =>
      parser
        .parse({ path: endless, format: 'pdf' })
        .catch(String)
        .finally(() => (ended += 1)),
    );
    const texts = ['a', 'b', 'c'].map((text) => parser.parse({ text, format: 'text' }));
    expect(await Promise.all(texts)).toHaveLength(3);
    const note = await parser.parse({ path: await file('# Note'), format: 'markdown' });
    expect(note.chunks).toHaveLength(1);
    // Otherwise they would have waited for one of them.
    expect(ended).toBe(0);
    await parser.close();
    expect(await Promise.all(held)).toEqual(Array(2).fill(expect.stringContaining('closed')));
    expect(parserChildren()).toEqual([]);
  });

  test('lets a document that eats memory fail alone while its neighbours go on', async () => {
    const parser = startPool({ size: 2 });
    const row = '<w:p><w:r><w:t>a</w:t></w:r></w:p>'.repeat(400_000);
    const namespace = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
    const hog = zipSync({
      'word/document.xml': strToU8(`<w:document xmlns:w="${namespace}"><w:body>${row}</w:body></w:document>`),
    });
    const fate = parser.parse({ path: await file(hog), format: 'docx' }).then(
      () => 'read',
      (error: unknown) => error,
    );
    for (let count = 0; count < 50; count += 1)
      expect(
        (await parser.parse({ text: `neighbour ${String(count)}`, format: 'text' })).chunks,
      ).toHaveLength(1);
    const end = await fate;
    expect(
      end === 'read' || (end instanceof IngestError && ['too_large', 'timeout'].includes(end.code)),
    ).toBe(true);
    expect((await parser.parse({ text: 'next', format: 'text' })).chunks).toHaveLength(1);
  });

  test('refuses a zip bomb before it unpacks it', async () => {
    const bomb = zipSync({ 'word/document.xml': new Uint8Array(300 * 1024 * 1024) });
    expect(bomb.length).toBeLessThan(1_000_000);
    await expect(startPool().parse({ path: await file(bomb), format: 'docx' })).rejects.toMatchObject({
      code: 'too_large',
    });
  });

  test('survives a hundred megabytes of one letter, of one cell, of brackets and of tags', async () => {
    const parser = startPool({ maxChunks: 2_000 });
    const end = async (format: FileFormat, content: string): Promise<unknown> => {
      const run = parser.parse({ path: await file(content), format });
      return await run.then(
        ({ chunks }) => chunks[chunks.length - 1]?.text.trimEnd().slice(-3),
        (error: unknown) => (error instanceof IngestError ? error.code : error),
      );
    };
    expect(await end('text', 'a'.repeat(100 * 1024 * 1024))).toBe('too_large');
    expect(await end('csv', `"${'word '.repeat(500_000)}end`)).toBe('end');
    expect(await end('json', `${'['.repeat(2_000_000)}"end"`)).toBe('end');
    expect(await end('html', `${'<div>'.repeat(20_000)}end`)).toBe('end');
    expect((await parser.parse({ text: 'next', format: 'text' })).chunks).toHaveLength(1);
  });

  test('rejects with a plain error when a process is killed from outside, and goes on', async () => {
    const parser = startPool();
    await parser.parse({ text: 'warm', format: 'text' });
    const killed = parser
      .parse({ path: await file(endlessPdf()), format: 'pdf' })
      .catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const id of parserChildren()) process.kill(id, 'SIGKILL');
    const error = await killed;
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(IngestError);
    expect((await parser.parse({ text: 'next', format: 'text' })).chunks).toHaveLength(1);
    // Killed while idle.
    for (const id of parserChildren()) process.kill(id, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await parser.parse({ text: 'and on', format: 'text' })).chunks).toHaveLength(1);
  });

  test('reads a text with separators of lines and paragraphs, which end no line of its channel', async () => {
    const parser = startPool();
    const text = `One\u2028two\u2029three\u0085four`;
    const { chunks } = await parser.parse({ text, format: 'text' });
    expect(chunks.map((chunk) => chunk.text)).toEqual([text]);
  });

  test('gives up a document when its caller does, running or waiting', async () => {
    const parser = startPool();
    const endless = await file(endlessPdf());
    const running = parser.parse({ path: endless, format: 'pdf', signal: AbortSignal.timeout(1_000) });
    const waiting = parser.parse({ path: endless, format: 'pdf', signal: AbortSignal.timeout(500) });
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect(running).rejects.toMatchObject({ name: 'TimeoutError' });
    expect((await parser.parse({ text: 'next', format: 'text' })).chunks).toHaveLength(1);
  });

  test('refuses more chunks than allowed', async () => {
    const parser = startPool({ maxChunks: 2 });
    await expect(parser.parse({ text: 'word '.repeat(3_000), format: 'text' })).rejects.toMatchObject({
      code: 'too_large',
    });
  });

  test('leaves no process behind when closed, not even in the middle of a document', async () => {
    const parser = startPool({ size: 2 });
    await Promise.all(['warm', 'warm, too'].map((text) => parser.parse({ text, format: 'text' })));
    expect(parserChildren()).toHaveLength(2);
    const cut = parser.parse({ path: await file(endlessPdf()), format: 'pdf' });
    const rejected = expect(cut).rejects.toThrow('closed');
    await parser.close();
    await rejected;
    expect(parserChildren()).toEqual([]);
    await expect(parser.parse({ text: 'too late', format: 'text' })).rejects.toThrow('closed');
  });
});
