import { describe, expect, test } from '@jest/globals';
import { planFaults, type Fault } from './faults.js';
import { createRandom } from './random.js';
import { createRegister, type Register, type Write } from './register.js';

function wrote(
  register: Register<string>,
  value: string,
  { start, end, outcome }: Pick<Write<string>, 'start' | 'end' | 'outcome'>,
): void {
  Object.assign(register.begin(value, start), { end, outcome });
}

describe('a value that several write at once', () => {
  test('is the last one that was acknowledged, for every later reader', () => {
    const register = createRegister<string>();
    wrote(register, 'a', { start: 1, end: 2, outcome: 'done' });
    wrote(register, 'b', { start: 3, end: 4, outcome: 'done' });
    expect(register.possible(5, 6)).toEqual(['b']);
  });

  test('is either while one is being written', () => {
    const register = createRegister<string>();
    wrote(register, 'a', { start: 1, end: 2, outcome: 'done' });
    wrote(register, 'b', { start: 4, end: 8, outcome: 'done' });
    expect(register.possible(3, 5)).toEqual(['a', 'b']);
    expect(register.possible(9, 10)).toEqual(['b']);
    expect(register.possible(2, 3)).toEqual(['a']);
  });

  test('is either of two that were written at the same time', () => {
    const register = createRegister<string>();
    wrote(register, 'a', { start: 1, end: 4, outcome: 'done' });
    wrote(register, 'b', { start: 2, end: 3, outcome: 'done' });
    expect(register.possible(5, 6)).toEqual(['a', 'b']);
  });

  test('may be one whose answer never came, until a later one is acknowledged', () => {
    const register = createRegister<string>();
    wrote(register, 'a', { start: 1, end: 2, outcome: 'done' });
    wrote(register, 'lost', { start: 3, end: 4, outcome: 'unknown' });
    wrote(register, 'under way', { start: 5, end: Infinity, outcome: 'unknown' });
    expect(register.possible(6, 7)).toEqual(['a', 'lost', 'under way']);
    wrote(register, 'b', { start: 8, end: 9, outcome: 'done' });
    expect(register.possible(10, 11)).toEqual(['under way', 'b']);
  });

  test('is never one that was refused', () => {
    const register = createRegister<string>();
    wrote(register, 'a', { start: 1, end: 2, outcome: 'done' });
    wrote(register, 'b', { start: 3, end: 4, outcome: 'undone' });
    expect(register.possible(5, 6)).toEqual(['a']);
  });
});

function plan(seed: string, everyMs: number): Fault[] {
  const faults = planFaults(createRandom(seed).branch('faults'), everyMs);
  return Array.from({ length: 500 }, () => faults.next().value);
}

test('a seed gives the same faults again, another one others', () => {
  expect(plan('1', 1_800)).toEqual(plan('1', 1_800));
  expect(plan('1', 1_800)).not.toEqual(plan('2', 1_800));
});

test('faults come as often as they are asked for, and of the same kinds at any rate', () => {
  const [often, seldom] = [plan('1', 300), plan('1', 1_800)];
  const mean = often.reduce((sum, { after }) => sum + after, 0) / often.length;
  expect(Math.abs(mean / 300 - 1)).toBeLessThan(0.1);
  expect(often.map(({ kind }) => kind)).toEqual(seldom.map(({ kind }) => kind));
});
