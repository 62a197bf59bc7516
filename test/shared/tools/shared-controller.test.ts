import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSharedController } from '../../../src/shared/tools/aborting.js';

test('many may listen to its signal at once without a warning, and all hear of the end', async () => {
  const warned = once(process, 'warning').then(([warning]: unknown[]) => String(warning));
  const controller = createSharedController();
  let heard = 0;
  for (let listeners = 0; listeners < 100; listeners += 1)
    controller.signal.addEventListener('abort', () => (heard += 1), { once: true });
  const outcome = await Promise.race([warned, sleep(50, 'no warning')]);
  controller.abort();
  expect([outcome, heard]).toEqual(['no warning', 100]);
});
