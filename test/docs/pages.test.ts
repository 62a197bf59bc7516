import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';

const pagesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
    .sort();
const read = (page: string) => readFileSync(page, 'utf8');
const readers = pagesBelow('docs');
const decisions = pagesBelow('decisions').filter((page) => page !== 'decisions/README.md');
const pages = [
  'README.md',
  'CHANGELOG.md',
  'scripts/dependencies/README.md',
  'test/promises.md',
  'test/verification.md',
  ...['bench/results', 'decisions', 'docs'].flatMap(pagesBelow),
];

/** Text without blocks of code, in which links and headings are none. */
const withoutCode = (text: string) => text.replaceAll(/^ *```[^]*?^ *```$/gm, '');

/** Names under which GitHub finds the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const headings = [...withoutCode(read(page)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function brokenLinks(page: string): string[] {
  const links = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [path = '', anchor = ''] = link.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      if (!existsSync(file)) return true;
      return anchor !== '' && file.endsWith('.md') && !anchorsOf(file).has(anchor);
    });
}

test.each(pages)('every link, path and command that %s names is there', (page) => {
  const text = read(page);
  const quoted = [...text.matchAll(/`((?:src|test|bench|scripts|docs|\.ci)\/[\w./-]*)`/g)].map(
    ([, path = '']) => path,
  );
  expect(quoted.filter((path) => !existsSync(path))).toEqual([]);
  expect(brokenLinks(page)).toEqual([]);
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync('package.json', 'utf8')));
  const commands = [...text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name);
  expect(commands.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

describe('docs/', () => {
  test('has at most 40,000 words', () => {
    const words = readers.flatMap((page) =>
      read(page)
        .split(/\s+/)
        .filter((word) => word !== ''),
    );
    expect(words.length).toBeLessThanOrEqual(40_000);
  });

  test('has a door that names every page', () => {
    const door = read('docs/README.md');
    expect(
      readers.filter((page) => page !== 'docs/README.md' && !door.includes(`(${page.slice(5)})`)),
    ).toEqual([]);
  });
});

describe('decisions/', () => {
  test.each(decisions)('%s says when, what and why', (page) => {
    expect(read(page)).toMatch(
      /^# [^\n]+\n\nDate: \d{4}-\d\d-\d\d(?:, revised \d{4}-\d\d-\d\d)?\n\n## Decision/,
    );
  });

  test('has an index that names each of them once', () => {
    const named = [
      ...read('decisions/README.md').matchAll(/^- \d{4}-\d\d-\d\d \[[^\]]+\]\(([\w-]+\.md)\)/gm),
    ];
    expect(named.map(([, file = '']) => `decisions/${file}`).sort()).toEqual(decisions);
  });
});

test('the changelog says on at most forty lines what the first version can', () => {
  const [section = ''] = /^## \[0\.1\.0\][^]*/m.exec(read('CHANGELOG.md')) ?? [];
  expect(
    section
      .trim()
      .split('\n')
      .filter((line) => line !== '').length,
  ).toBeLessThanOrEqual(40);
});
