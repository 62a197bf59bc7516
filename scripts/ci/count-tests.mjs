// Prints the counts of jest's JSON reports as the last line of .ci/run. The arguments are the paths of the report of those
// files that were run again, which is empty when none were, and of the reports of all tests.
import { readReport } from './report.mjs';

const [again, ...first] = process.argv.slice(2).map(readReport);
if (first.includes(undefined)) {
  console.log('0 passed, 1 failed, 0 skipped');
  process.exit(1);
}
const results = [...first, again].flatMap((report) => report?.testResults ?? []);
const files = new Map(results.map((file) => [file.name, file]));
const counts = { passed: 0, failed: 0, skipped: 0 };
for (const file of files.values()) {
  const states = file.assertionResults.map(({ status }) => status);
  for (const state of states) counts[state === 'passed' || state === 'failed' ? state : 'skipped'] += 1;
  // A file that cannot be loaded has no failed tests, but counts as one.
  if (file.status === 'failed' && !states.includes('failed')) counts.failed += 1;
}
for (const file of again?.testResults ?? []) {
  if (file.status === 'passed') console.log(`failed beside others, passed alone: ${file.name}`);
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
if (counts.failed > 0 || counts.passed === 0) process.exit(1);
