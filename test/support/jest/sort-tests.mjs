// Tells which of Jest's projects a test file belongs to, by its imports and by theirs.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The seconds that files take, of those that take two or more (scripts/ci/keep-seconds.mjs). */
export const secondsOfFiles = JSON.parse(readFileSync(new URL('seconds.json', import.meta.url), 'utf8'));

const tests = fileURLToPath(new URL('../../', import.meta.url));

/** Folders of tests that are about the whole service, and what starts its processes. */
const WHOLE =
  /^(?:e2e|chaos|hostile|generated|cli|containers)\/|^support\/(?:service|shared\/use-service)\.ts$/;
const REDIS = /^support\/(?:use-test-)?redis\.ts$/;

/** Minutes of attacks and kills: `npm run test:trials`. */
const TRIALS = ['chaos/chaos.test.ts', 'hostile/hostile.test.ts'];

/** Files that failed beside others on a full machine, since they hold the service to limits of time. */
const ALONE = [
  'api/giving-way.test.ts',
  'e2e/hostile.test.ts',
  'hostile/few-descriptors.test.ts',
  'models/giving-way.test.ts',
  'workers/parse/pool-pdf.test.ts',
];

/** Absolute paths of the test files of each project. */
export function sortTests() {
  const names = readdirSync(tests, { recursive: true }).map((name) => name.replaceAll('\\', '/'));
  const sources = new Map(
    names.filter((name) => name.endsWith('.ts')).map((name) => [name, importsOf(name)]),
  );
  const sorted = { pure: [], redis: [], long: [], e2e: [], alone: [], aloneE2e: [], trials: [] };
  for (const name of sources.keys()) {
    if (name.endsWith('.test.ts')) sorted[projectOf(name, sources)].push(join(tests, name));
  }
  const missing = [...TRIALS, ...ALONE].filter((name) => !sources.has(name));
  if (missing.length > 0) throw new Error(`no such test files: ${missing.join(', ')}`);
  return sorted;
}

function projectOf(name, sources) {
  if (TRIALS.includes(name)) return 'trials';
  const reached = [...reach(name, sources)];
  const isWhole = reached.some((each) => WHOLE.test(each));
  if (ALONE.includes(name)) return isWhole ? 'aloneE2e' : 'alone';
  if (isWhole) return 'e2e';
  if (Object.hasOwn(secondsOfFiles, name)) return 'long';
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
