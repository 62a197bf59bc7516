import { expect, test } from '@jest/globals';
import { restoreMs } from '../../bench/models/restore-time.js';

const METRIC = 'quire_models_state_restore_seconds';

test('the time of a restore is the mean of all since the start', () => {
  const metrics = `# TYPE ${METRIC} histogram\n${METRIC}_bucket{le="0.005"} 1\n${METRIC}_sum 0.05\n${METRIC}_count 2\n`;
  expect(restoreMs(metrics)).toBeCloseTo(25);
});

test('a process that has restored nothing has no time', () => {
  expect(restoreMs(`${METRIC}_sum 0\n${METRIC}_count 0\n`)).toBeNull();
});
