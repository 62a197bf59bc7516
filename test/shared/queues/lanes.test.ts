import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { LANE_PURPOSES, LANES, queueOf } from '../../../src/shared/queues/lanes.js';

test('docs/reference/lanes.md says of each lane what the board says, and which queue a worker has to serve for it', async () => {
  const page = await readFile('docs/reference/lanes.md', 'utf8');
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const told = rows.filter(([, lane = '']) => LANES.some((name) => lane === `\`${name}\``));
  expect(told.map(([, lane, queue, purpose]) => [lane, queue, purpose])).toEqual(
    LANES.map((lane) => [`\`${lane}\``, `\`${queueOf(lane)}\``, LANE_PURPOSES[lane]]),
  );
  expect(told).toHaveLength(9);
});
