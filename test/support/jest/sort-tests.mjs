// Tells which of Jest's projects a test file belongs to, by its imports and by theirs.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const tests = fileURLToPath(new URL('../../', import.meta.url));

/** Folders of tests that are about the whole service, and what starts its processes. */
const WHOLE =
  /^(?:e2e|chaos|hostile|generated|cli|containers)\/|^support\/(?:service|shared\/use-service)\.ts$/;
const REDIS = /^support\/(?:use-test-)?redis\.ts$/;

/** Tests of one part that take more than some ten seconds by what they are about: only the whole run has them. */
const LONG = [
  'api/body-claims.test.ts',
  'api/documents.test.ts',
  'api/main.test.ts',
  'api/parser-budgets.test.ts',
  'api/context/reconnect-silent-redis.test.ts',
  'api/stalled.test.ts',
  'api/upload-stream.test.ts',
  'shared/adapters/exact-index/exact-index.test.ts',
  'shared/adapters/exact-index/recall.test.ts',
  'index/masks/masks.test.ts',
  'shared/adapters/query-engine-index/changes.test.ts',
  'shared/adapters/query-engine-index/extremes.test.ts',
  'shared/adapters/query-engine-index/failover.test.ts',
  'shared/adapters/query-engine-index/lifecycle.test.ts',
  'shared/adapters/query-engine-index/recall.test.ts',
  'shared/adapters/query-engine-index/trouble.test.ts',
  'shared/adapters/s3-storage/s3-storage.test.ts',
  'shared/patterns.test.ts',
  'shared/storage/marker.test.ts',
  'workers/interrupted.test.ts',
  'workers/maintenance/sweep/sweep.test.ts',
  'workers/parse/confinement/confinement.test.ts',
  'readers/formats/quick.test.ts',
  'workers/parse/pool.test.ts',
  'workers/parse/confinement/workspace.test.ts',
];

/** Absolute paths of the test files of each project. */
export function sortTests() {
  const names = readdirSync(tests, { recursive: true }).map((name) => name.replaceAll('\\', '/'));
  const sources = new Map(
    names.filter((name) => name.endsWith('.ts')).map((name) => [name, importsOf(name)]),
  );
  const sorted = { pure: [], redis: [], long: [], e2e: [] };
  for (const name of sources.keys()) {
    if (name.endsWith('.test.ts')) sorted[projectOf(name, sources)].push(join(tests, name));
  }
  const missing = LONG.filter((name) => !sources.has(name));
  if (missing.length > 0) throw new Error(`no such test files: ${missing.join(', ')}`);
  return sorted;
}

function projectOf(name, sources) {
  const reached = [...reach(name, sources)];
  if (reached.some((each) => WHOLE.test(each))) return 'e2e';
  if (LONG.includes(name)) return 'long';
  return reached.some((each) => REDIS.test(each)) ? 'redis' : 'pure';
}

/** A file, and the files of test/ that it imports, or that they do. */
function reach(name, sources, seen = new Set()) {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const imported of sources.get(name) ?? []) reach(imported, sources, seen);
  return seen;
}

/** Files of test/, by their names in it; imports of types alone do not count, as they are not there at run time. */
function importsOf(name) {
  const path = join(tests, name);
  const found = readFileSync(path, 'utf8').matchAll(
    /^(?:import|export) (?!type\b)[^;]*?from '(\.[^']+)\.js'/gm,
  );
  return [...found].map(([, imported]) => resolve(dirname(path), `${imported}.ts`).slice(tests.length));
}
