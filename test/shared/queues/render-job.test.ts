import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { renderJob, renderOf } from '../../../src/shared/queues/job-kinds.js';

const job = { documentId: 'd', generation: 'g', page: 2, wait: 'w', callerId: 'ann', requestId: 'r' };
/** The mark as earlier versions read and write it. */
const earlier = z.object({ chunk: z.number().nullable() });

test.each([
  ['7:120-180', 7],
  ['7', 7],
  [null, null],
])('a job with the passage %j names the chunk for earlier versions, too', (highlight, chunk) => {
  const data = renderOf({ ...job, highlight }).jobs[0]?.data;
  expect(renderJob.parse(data)).toEqual({ ...job, highlight });
  expect(earlier.parse(data)).toEqual({ chunk });
});

test.each([
  [3, '3'],
  [null, null],
])('a job of an earlier version with the chunk %j is read', (chunk, highlight) => {
  expect(renderJob.parse({ ...job, chunk })).toEqual({ ...job, highlight });
});
