import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const read = (page: string) => readFileSync(page, 'utf8');

/** Rooms that ARCHITECTURE.md lists, without the slash at the end. */
const rooms = [...read('ARCHITECTURE.md').matchAll(/^\| \[([\w/-]+)\/\]\(/gm)].map(([, room = '']) => room);
const readmes = rooms.map((room) => `${room}/README.md`);
const tasks = readdirSync('contributing').map((name) => `contributing/${name}`);
const pages = ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...tasks, ...readmes];

const FENCED = /^```[^]*?^```$/gm;
/** Folders at the root whose files are named by their whole paths. */
const WHOLE = /^(?:src|test|bench|scripts|docs|contributing|decisions|monitoring|\.ci|\.github)\//;
const LOOKS_LIKE_A_PATH = /\/$|\.(?:ts|mjs|js|json|md|py|toml|yml)$/;

/** Names in backticks that may be paths, in the order of the page. Folders end with a slash. */
function namedPaths(text: string): string[] {
  const quoted = [...text.replace(FENCED, '').matchAll(/`([\w.-][\w./-]*)`/g)].map(([, name = '']) => name);
  return quoted.filter((name) => WHOLE.test(name) || LOOKS_LIKE_A_PATH.test(name));
}

/**
 * The paths on a page that lead nowhere. A path begins at the root, in `src/`, in the folder of the page, or in a folder that the
 * page has named before, be it by a file in it.
 */
function missingPaths(page: string): string[] {
  const begins = new Set(['.', 'src', dirname(page)]);
  return namedPaths(read(page)).filter((name) => {
    const found = [...begins].map((folder) => join(folder, name)).find((path) => existsSync(path));
    if (found !== undefined) begins.add(statSync(found).isDirectory() ? found : dirname(found));
    return found === undefined;
  });
}

/** Functions, types and constants, such as `openIndex()`, `ReadError` and `MAX_BYTES`. */
const NAME = /^([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Z]+_\w*[A-Z\d])(?:\(.*\))?$/;

/** Names of the code in backticks, without paths. */
const namesOf = (page: string): string[] =>
  [
    ...read(page)
      .replace(FENCED, '')
      .matchAll(/`([^`\n]+)`/g),
  ].flatMap(([, quoted = '']) => {
    const name = NAME.exec(quoted)?.[1];
    return name === undefined ? [] : [name];
  });

/** Every word of the code, to tell names that are gone. */
const words = new Set(
  ['src', 'test', 'bench', 'scripts']
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((name) => /\.(?:ts|mjs)$/.test(name))
    .concat('eslint.config.js', 'jest.config.js')
    .flatMap((name) => read(name).match(/\w+/g) ?? []),
);

/** The links of a page to files, each with what is behind its `#`, if anything. */
function linksOf(page: string): { readonly path: string; readonly anchor: string | undefined }[] {
  return [
    ...read(page)
      .replace(FENCED, '')
      .matchAll(/\]\(([^):#]*)(?:#([^):]*))?\)/g),
  ].map(([, path = '', anchor]) => ({ path: path === '' ? page : join(dirname(page), path), anchor }));
}

describe.each(pages)('%s', (page) => {
  test('names files and folders that exist', () => {
    expect(missingPaths(page)).toEqual([]);
    const inExamples = [...read(page).matchAll(/(?<=\s)(?:src|test|bench|scripts)\/[\w./-]+/g)].map(
      ([path]) => path,
    );
    expect(inExamples.filter((path) => !existsSync(path))).toEqual([]);
  });

  test('names functions, types and constants that the code has', () => {
    expect(namesOf(page).filter((name) => !words.has(name))).toEqual([]);
  });
});

describe('the doors of the code are short:', () => {
  test('CONTRIBUTING.md is at most 10 kB', () => {
    expect(Buffer.byteLength(read('CONTRIBUTING.md'))).toBeLessThanOrEqual(10_000);
  });

  test('ARCHITECTURE.md is at most 12 kB, without the blanks and lines of its tables', () => {
    const prose = read('ARCHITECTURE.md').replaceAll(/ {2,}|-{4,}/g, ' ');
    expect(Buffer.byteLength(prose)).toBeLessThanOrEqual(12_000);
  });

  test.each(readmes)('%s is at most 30 lines', (page) => {
    expect(read(page).trimEnd().split('\n').length).toBeLessThanOrEqual(30);
  });
});

describe('nobody stands before a wall:', () => {
  test('ARCHITECTURE.md lists at least a dozen rooms, and each has a README', () => {
    expect(rooms.length).toBeGreaterThanOrEqual(12);
    expect(readmes.filter((page) => !existsSync(page))).toEqual([]);
  });

  test('every README in src/ is in the list of ARCHITECTURE.md', () => {
    const there = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => basename(name) === 'README.md')
      .map((name) => join('src', name));
    expect(there.filter((page) => !readmes.includes(page))).toEqual([]);
  });

  test('no README is built into dist', () => {
    const built = readmes
      .map((page) => page.replace(/^src/, 'dist'))
      .filter((page) => page.startsWith('dist'));
    expect(built.filter((page) => existsSync(page))).toEqual([]);
  });

  test('contributing/README.md names every page beside it', () => {
    const named = linksOf('contributing/README.md').map(({ path }) => path);
    expect(tasks.filter((page) => page !== 'contributing/README.md' && !named.includes(page))).toEqual([]);
  });
});
