import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

/** The places where a path on the page may begin. */
const ROOTS = ['', 'src/', 'src/api/', 'src/api/services/retrieval/', 'src/shared/', 'src/shared/queues/'];
const MORE_ROOTS = ['src/shared/search/', 'src/shared/adapters/', 'src/workers/parse/'];

test('every file and folder that ARCHITECTURE.md names exists', () => {
  const page = readFileSync('ARCHITECTURE.md', 'utf8');
  const paths = [...page.matchAll(/`([a-z][\w-]*(?:\/[\w.-]+)*(?:\/|\.ts|\.md))`/g)].map(
    ([, path = '']) => path,
  );
  expect(paths.length).toBeGreaterThan(50);
  const missing = paths.filter(
    (path) => path !== 'index.ts' && ![...ROOTS, ...MORE_ROOTS].some((root) => existsSync(`${root}${path}`)),
  );
  expect(missing).toEqual([]);
});
