import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';

const filesBelow = (folder: string, name: RegExp): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((each) => name.test(each))
    .map((each) => join(folder, each))
    .sort();
const pagesBelow = (folder: string) => filesBelow(folder, /\.md$/);
const read = (page: string) => readFileSync(page, 'utf8');

/** Rooms that ARCHITECTURE.md lists, without the slash at the end. */
const rooms = [...read('ARCHITECTURE.md').matchAll(/^\| \[([\w/-]+)\/\]\(/gm)].map(([, room = '']) => room);
const readmes = rooms.map((room) => `${room}/README.md`);
const tasks = pagesBelow('contributing');
/** Pages for those who change the code. They name its files briefly, and its functions. */
const doors = ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...tasks, ...readmes];
const guides = pagesBelow('docs');
const decisions = pagesBelow('decisions').filter((page) => page !== 'decisions/README.md');
const others = [
  'README.md',
  'CHANGELOG.md',
  'clients/typescript/README.md',
  'scripts/dependencies/README.md',
  'decisions/README.md',
];
const beside = ['bench', 'test'].flatMap(pagesBelow);
const pages = [...new Set(doors.concat(guides, others, decisions, beside))];

/** Returns text without blocks of code, in which links, names and headings are none. */
const withoutCode = (text: string) => text.replaceAll(/^ *```[^]*?^ *```$/gm, '');
const quotedIn = (page: string) =>
  [...withoutCode(read(page)).matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text);

/** A path that begins at the root of the project. */
const WHOLE =
  /^(?:src|clients|test|bench|scripts|docs|contributing|decisions|monitoring|\.ci|\.github)\/[\w./-]*$/;
const LOOKS_LIKE_A_PATH = /^[\w.-][\w./-]*(?:\/|\.(?:ts|mjs|js|json|md|py|toml|yml))$/;

/**
 * Returns the paths on a page that lead nowhere. A path begins at the root, on a door also in `src/`, in the folder of the page,
 * or in a folder that the page has named before, be it by a file in it.
 */
function missingPaths(page: string): string[] {
  const isDoor = doors.includes(page);
  const begins = new Set(isDoor ? ['.', 'src', dirname(page)] : ['.']);
  const named = quotedIn(page).filter((name) => WHOLE.test(name) || (isDoor && LOOKS_LIKE_A_PATH.test(name)));
  return named.filter((name) => {
    const found = [...begins].map((folder) => join(folder, name)).find((path) => existsSync(path));
    if (found !== undefined && isDoor) begins.add(statSync(found).isDirectory() ? found : dirname(found));
    return found === undefined;
  });
}

/** Returns the names under which GitHub finds the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const headings = [...withoutCode(read(page)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  const nameOf = (heading: string) => heading.toLowerCase().replaceAll(/[^\p{L}\p{N}_ -]/gu, '');
  return new Set(headings.map((heading) => nameOf(heading).replaceAll(' ', '-')));
}

/** Returns the links of a page within the project. */
const linksOf = (page: string): string[] =>
  [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));

function isBroken(link: string, page: string): boolean {
  const [path = '', anchor = ''] = link.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(file)) return true;
  return anchor !== '' && file.endsWith('.md') && !anchorsOf(file).has(anchor);
}

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('package.json')));

describe.each(pages)('%s', (page) => {
  test('names files and folders that exist', () => {
    expect(missingPaths(page)).toEqual([]);
  });

  test('links to pages and headings that exist', () => {
    expect(linksOf(page).filter((link) => isBroken(link, page))).toEqual([]);
  });

  test('names commands that package.json has', () => {
    const commands = [...read(page).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name);
    expect(commands.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });
});

/** Functions, types and constants, such as `openIndex()`, `ReadError` and `MAX_BYTES`. */
const NAME = /^([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Z]+_\w*[A-Z\d])(?:\(.*\))?$/;

/** Every word of the code, to tell names that are gone. */
const words = new Set(
  ['src', 'test', 'bench', 'scripts']
    .flatMap((folder) => filesBelow(folder, /\.(?:ts|mjs)$/))
    .concat('eslint.config.js', 'jest.config.js')
    .flatMap((name) => read(name).match(/\w+/g) ?? []),
);

describe.each(doors)('%s', (page) => {
  test('names functions, types and constants that the code has', () => {
    const names = quotedIn(page).flatMap((quoted) => NAME.exec(quoted)?.[1] ?? []);
    expect(names.filter((name) => !words.has(name))).toEqual([]);
  });

  test('names files that exist in its examples', () => {
    const inExamples = read(page).match(/(?<=\s)(?:src|test|bench|scripts)\/[\w./-]+/g) ?? [];
    expect(inExamples.filter((path) => !existsSync(path))).toEqual([]);
  });
});

describe('the doors of the code', () => {
  test('are short: CONTRIBUTING.md is at most 10 kB', () => {
    expect(Buffer.byteLength(read('CONTRIBUTING.md'))).toBeLessThanOrEqual(10_000);
  });

  test('are short: ARCHITECTURE.md is at most 12 kB, without the blanks and lines of its tables', () => {
    const prose = read('ARCHITECTURE.md').replaceAll(/ {2,}|-{4,}/g, ' ');
    expect(Buffer.byteLength(prose)).toBeLessThanOrEqual(12_000);
  });

  test.each(readmes)('are short: %s is at most 30 lines', (page) => {
    expect(read(page).trimEnd().split('\n').length).toBeLessThanOrEqual(30);
  });

  test('are at least a dozen rooms, and all that have a README in src/', () => {
    expect(rooms.length).toBeGreaterThanOrEqual(12);
    const there = filesBelow('src', /(?:^|\/)README\.md$/);
    expect(there.filter((page) => !readmes.includes(page))).toEqual([]);
  });

  test('are not built into dist', () => {
    expect(filesBelow('dist', /\.md$/)).toEqual([]);
  });

  test('lead to each other: contributing/README.md names every page beside it', () => {
    const named = linksOf('contributing/README.md').map((link) => join('contributing', link));
    expect(tasks.filter((page) => page !== 'contributing/README.md' && !named.includes(page))).toEqual([]);
  });
});

describe('docs/', () => {
  test('has at most 48,000 words', () => {
    const count = guides.reduce((sum, page) => sum + (read(page).match(/\S+/g)?.length ?? 0), 0);
    expect(count).toBeLessThanOrEqual(48_000);
  });

  test('has a door that names every page', () => {
    const named = linksOf('docs/README.md').map((link) => join('docs', link));
    expect(guides.filter((page) => page !== 'docs/README.md' && !named.includes(page))).toEqual([]);
  });
});

describe('decisions/', () => {
  test.each(decisions)('%s says when, what and why', (page) => {
    const HEAD = /^# [^\n]+\n\nDate: \d{4}-\d\d-\d\d(?:, revised \d{4}-\d\d-\d\d)?\n\n## Decision/;
    expect(read(page)).toMatch(HEAD);
  });

  test('has an index that names each of them once', () => {
    const index = read('decisions/README.md');
    const named = [...index.matchAll(/^- \d{4}-\d\d-\d\d \[[^\]]+\]\(([\w-]+\.md)\)/gm)];
    expect(named.map(([, file = '']) => `decisions/${file}`).sort()).toEqual(decisions);
  });
});

test('the changelog says on at most forty lines what the first version can', () => {
  const [section = ''] = /^## \[0\.1\.0\][^]*/m.exec(read('CHANGELOG.md')) ?? [];
  const lines = section.split('\n').filter((line) => line !== '');
  expect(lines.length).toBeLessThanOrEqual(40);
});
