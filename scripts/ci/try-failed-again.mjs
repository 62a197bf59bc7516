// Runs the test files that failed in reports of jest once more, alone. The arguments are the paths of the report to write
// and of the reports of runs that failed, each of which must name a file. Exits with 0 when all pass now.
import { spawnSync } from 'node:child_process';
import { root } from '../prepare.mjs';
import { readReport } from './report.mjs';

/** More files than this do not fail by chance. */
const MAX_FILES = 5;

const [again, ...first] = process.argv.slice(2);
const failures = first.map((path) =>
  (readReport(path)?.testResults ?? []).filter(({ status }) => status === 'failed'),
);
const failed = failures.flat();
if (failures.some(({ length }) => length === 0) || failed.length > MAX_FILES) process.exit(1);

const names = failed.map(({ name }) => name);
console.log(`Running again, alone: ${names.join(', ')}`);
const options = ['--json', `--outputFile=${again}`, '--runInBand', '--runTestsByPath', ...names];
const { status } = spawnSync(process.execPath, ['scripts/test.mjs', ...options], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
