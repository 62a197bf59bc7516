// Writes down which test files take long, by a JSON report of jest: the argument is its path. `npm run test:fast` leaves
// these out, and a run that has no times of its own begins with the longest.
import { writeFileSync } from 'node:fs';
import { relative, join } from 'node:path';
import { root } from '../prepare.mjs';
import { readReport } from './report.mjs';

const MIN_SECONDS = 2;

const { testResults = [] } = readReport(process.argv[2]) ?? {};
const seconds = testResults
  .map(({ name, startTime, endTime }) => [
    relative(join(root, 'test'), name).replaceAll('\\', '/'),
    Math.round((endTime - startTime) / 1_000),
  ])
  .filter(([, each]) => each >= MIN_SECONDS)
  .sort(([a], [b]) => (a < b ? -1 : 1));
const path = join(root, 'test', 'support', 'jest', 'seconds.json');
writeFileSync(path, `${JSON.stringify(Object.fromEntries(seconds), null, 2)}\n`);
