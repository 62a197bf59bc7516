import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addNumber, createNumberQueue, takeLowest } from '../../../src/shared/text/byte-pairs.js';

test('numbers leave the queue lowest first, whatever is added between', () => {
  const step = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant('take' as const));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = createNumberQueue(steps.length);
      const held: number[] = [];
      for (const each of steps) {
        if (each === 'take') {
          held.sort((a, b) => a - b);
          expect(takeLowest(queue)).toBe(held.shift() ?? Infinity);
        } else {
          addNumber(queue, each);
          held.push(each);
        }
      }
      expect(queue.size).toBe(held.length);
    }),
  );
});
