import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { ParserPool } from '../../../src/workers/parse/pool.js';
import { scan } from '../../support/scans.js';
import { parserChildren, useParserPool } from '../../support/use-parser-pool.js';
import { until } from '../../support/until.js';

const { startPool, file } = useParserPool();

/** The folders of children that have a file to read. */
async function foldersWithFiles({ incoming }: ParserPool): Promise<string[]> {
  const files = await readdir(dirname(incoming), { recursive: true });
  return [...new Set(files.filter((path) => /^parser-[^/]+\/./.test(path)).map((path) => dirname(path)))];
}

function crashChildren(): void {
  for (const id of parserChildren()) process.kill(id, 'SIGSEGV');
}

describe('the parser pool, with pictures', () => {
  test('reads a picture again that crashes a child which has read others, since these may be the cause', async () => {
    const warnings: unknown[] = [];
    const parser = startPool({ logger: { warn: (fields) => warnings.push(fields) } });
    const source = { path: await file((await scan(150)).png), format: 'png' } as const;
    const { chunks } = await parser.parse(source);
    const again = parser.parse(source);
    await until(async () => (await foldersWithFiles(parser)).length > 0);
    crashChildren();
    expect((await again).chunks).toEqual(chunks);
    expect(warnings).toEqual([{ format: 'png', reason: 'The document makes the parser fail.' }]);
  });

  test('reads any file again that crashes a child which has read a picture', async () => {
    const warnings: unknown[] = [];
    const parser = startPool({ logger: { warn: (fields) => warnings.push(fields) } });
    await parser.parse({ path: await file((await scan(150)).png), format: 'png' });
    const path = await file(Buffer.from('Herons stand in the reeds.\n'.repeat(100_000)));
    const read = parser.parse({ path, format: 'text' });
    await until(async () => (await foldersWithFiles(parser)).length > 0);
    crashChildren();
    expect((await read).chunks.at(-1)?.text).toContain('Herons stand');
    expect(warnings).toEqual([{ format: 'text', reason: 'The document makes the parser fail.' }]);
  });

  test('fails a picture that crashes a new child, too', async () => {
    const warnings: unknown[] = [];
    const parser = startPool({ logger: { warn: (fields) => warnings.push(fields) } });
    const source = { path: await file((await scan(150)).png), format: 'png' } as const;
    const { chunks } = await parser.parse(source);
    let end: unknown;
    const read = parser.parse(source).catch((error: unknown) => (end = error));
    // More often than a child needs to start, so that none gets to the end of the picture.
    for (; end === undefined; await new Promise((resolve) => setTimeout(resolve, 50))) crashChildren();
    await read;
    expect(end).toMatchObject({ code: 'corrupt' });
    expect(warnings).toHaveLength(2);
    expect((await parser.parse(source)).chunks).toEqual(chunks);
  });
});
