// Prints which files of a run took the longest.
const SHOWN = 10;

export default class SlowestFiles {
  onRunComplete(_contexts, { testResults }) {
    if (testResults.length <= SHOWN) return;
    const files = testResults.map(({ testFilePath, perfStats }) => ({
      name: testFilePath.replaceAll('\\', '/').split('/test/').at(-1),
      seconds: (perfStats.end - perfStats.start) / 1_000,
    }));
    const slowest = files.sort((a, b) => b.seconds - a.seconds).slice(0, SHOWN);
    const lines = slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`);
    process.stderr.write(`\nThe slowest files:\n${lines.join('\n')}\n`);
  }
}
