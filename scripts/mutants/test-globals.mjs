// The functions that tests import from `@jest/globals`: they note the tests, which run-tests.mjs runs as often as it is
// asked to.
import { createRequire } from 'node:module';
import { format } from 'node:util';

// Jest's own, by the way of Jest: they are no dependencies of ours.
const requireOfJest = createRequire(createRequire(import.meta.url).resolve('jest'));
const requireOfCli = createRequire(requireOfJest.resolve('@jest/core'));
const requireOfConfig = createRequire(requireOfCli.resolve('jest-config'));
const requireOfEnvironment = createRequire(requireOfConfig.resolve('jest-environment-node'));
const { ModuleMocker } = requireOfEnvironment('jest-mock');
const { ModernFakeTimers } = requireOfEnvironment('@jest/fake-timers');
const requireOfCircus = createRequire(requireOfConfig.resolve('jest-circus/runner'));

export const expect = requireOfCircus('expect').expect;

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({
  config: { fakeTimers: {}, rootDir: process.cwd() },
  global: globalThis,
});
export const jest = {
  fn: (...given) => mocker.fn(...given),
  spyOn: (...given) => mocker.spyOn(...given),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  useFakeTimers: (given) => (timers.useFakeTimers(given), jest),
  useRealTimers: () => (timers.useRealTimers(), jest),
  advanceTimersByTime: (time) => timers.advanceTimersByTime(time),
  advanceTimersByTimeAsync: (time) => timers.advanceTimersByTimeAsync(time),
  setTimeout: () => jest,
};

const group = (name, parent) => ({
  name,
  parent,
  entries: [],
  hooks: { beforeAll: [], beforeEach: [], afterEach: [], afterAll: [] },
});
let current = group('', null);

/** The tests and groups that a file defines while it is imported. */
export async function collect(load) {
  current = group('', null);
  const top = current;
  await load();
  return top;
}

const hook = (name) => (run) => current.hooks[name].push(run);
export const beforeAll = hook('beforeAll');
export const beforeEach = hook('beforeEach');
export const afterEach = hook('afterEach');
export const afterAll = hook('afterAll');

function addGroup(name, define) {
  const outer = current;
  current = group(name, outer);
  outer.entries.push(current);
  define();
  current = outer;
}
const addTest = (name, run) => current.entries.push({ name, run });

/** Rows of values, or one value each, as Jest tells them apart. */
const each = (add) => (rows) => (name, run) => {
  const areLists = rows.every(Array.isArray);
  rows.forEach((row, index) => {
    const values = areLists ? row : [row];
    add(format(`${name.replaceAll('%#', index)}`, ...values), run && (() => run(...values)));
  });
};
const skip = Object.assign(() => undefined, { each: () => () => undefined });

export const describe = Object.assign(addGroup, { each: each(addGroup), skip });
const makeTest = () =>
  Object.assign((name, run) => addTest(name, run), { each: each(addTest), skip, concurrent: addTest });
export const test = makeTest();
export const it = makeTest();
