// Writes down which test files take long, by a JSON report of jest: the argument is its path. `npm run test:fast` leaves
// these out, and a run that has no times of its own begins with the longest. A file that was not run, or whose tests were
// all skipped, keeps its seconds.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative, join } from 'node:path';
import { root } from '../prepare.mjs';
import { readReport } from './report.mjs';

const MIN_SECONDS = 2;

const tests = join(root, 'test');
const path = join(tests, 'support', 'jest', 'seconds.json');
const seconds = new Map(Object.entries(JSON.parse(readFileSync(path, 'utf8'))));
const { testResults = [] } = readReport(process.argv[2]) ?? {};
for (const { name, startTime, endTime, assertionResults } of testResults) {
  if (assertionResults.every(({ status }) => status === 'pending')) continue;
  const file = relative(tests, name).replaceAll('\\', '/');
  const taken = Math.round((endTime - startTime) / 1_000);
  if (taken < MIN_SECONDS) seconds.delete(file);
  else seconds.set(file, taken);
}
const there = [...seconds].filter(([file]) => existsSync(join(tests, file)));
const sorted = there.sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(path, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
