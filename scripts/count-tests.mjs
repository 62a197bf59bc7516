// Prints the counts of jest's JSON report, whose path is the first argument, as the last line of .ci/run.
import { readFileSync } from 'node:fs';

const report = readFileSync(process.argv[2], 'utf8');
if (report === '') {
  console.log('0 passed, 1 failed, 0 skipped');
  process.exit(1);
}
const counts = JSON.parse(report);
// A file that cannot be loaded has no failed tests, but counts as one.
const failed = counts.numFailedTests + counts.numRuntimeErrorTestSuites;
const skipped = counts.numPendingTests + counts.numTodoTests;
console.log(`${counts.numPassedTests} passed, ${failed} failed, ${skipped} skipped`);
if (failed > 0 || counts.numPassedTests === 0) process.exit(1);
