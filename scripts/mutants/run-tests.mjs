// A process that loads test files once, and runs them as often as it is asked to, each time with another mutant.
import { pathToFileURL } from 'node:url';
import { forgetQuestions, turnOn, watchReached } from './runtime.mjs';
import { collect, jest } from './test-globals.mjs';

const { setTimeout: later, clearTimeout: never } = globalThis;
const files = new Map();

process.on('unhandledRejection', () => undefined);
process.on('uncaughtException', () => undefined);
process.on('message', (message) => void answer(message));
process.on('disconnect', () => process.exit());

async function answer({ ask, ...given }) {
  process.send(await { load, survey, run }[ask](given));
}

/** Loads files; answers with what they reach by that, and which cannot be loaded. */
async function load({ paths, mutant = 0 }) {
  turnOn(mutant);
  const reached = watchReached();
  const failed = [];
  for (const path of paths) {
    try {
      files.set(path, await collect(() => import(pathToFileURL(path).href)));
      number(files.get(path));
    } catch (error) {
      failed.push({ path, message: String(error) });
    }
  }
  return { reached: [...reached], failed };
}

/** Tests are named by their place in their file, which is the same whatever other files are loaded. */
function number(group, first = 0) {
  let next = first;
  for (const entry of group.entries) {
    if (entry.entries) next = number(entry, next);
    else {
      entry.id = next;
      next += 1;
    }
  }
  return next;
}

/** Runs all tests of a file without a mutant; answers with each, how long it takes, and what it reaches. */
async function survey({ path }) {
  turnOn(0);
  const found = [];
  const outer = watchReached();
  watched = outer;
  const start = performance.now();
  await runGroup(files.get(path), {
    wants: () => true,
    limit: () => 20_000,
    onTest: (test, { failure, time, reached }) =>
      found.push({
        id: test.id,
        name: test.name,
        time,
        isFailed: failure !== null,
        message: String(failure?.message ?? '').slice(0, 1500),
        reached: [...reached],
      }),
    isOver: () => false,
    isWatching: true,
    outer,
  }).catch((error) => found.push({ id: -1, isFailed: true, message: String(error), time: 0, reached: [] }));
  const inTests = found.reduce((sum, { time }) => sum + time, 0);
  const own = [...outer];
  return {
    path,
    tests: found.map((each) => ({ ...each, reached: [...new Set([...each.reached, ...own])] })),
    hooks: performance.now() - start - inTests,
  };
}

/** Runs some tests with a mutant until one fails. One that fails must not fail without the mutant. */
async function run({ mutant, plan }) {
  const outcome = await attempt(mutant, plan);
  turnOn(0);
  if (outcome.status !== 'killed') return outcome;
  const again = await attempt(0, [outcome.part]);
  return { ...outcome, isSpoilt: again.status !== 'survived' };
}

async function attempt(mutant, plan) {
  turnOn(mutant);
  for (const part of plan) {
    const wanted = new Map(part.tests.map(({ id, limit }) => [id, limit]));
    let killer = null;
    let isLate = false;
    await runGroup(files.get(part.path), {
      wants: ({ id }) => wanted.has(id),
      limit: ({ id }) => wanted.get(id),
      onTest: (test, { failure }) => {
        if (failure === null) return;
        killer ??= test;
        isLate ||= failure instanceof LateError;
      },
      isOver: () => killer !== null,
    }).catch((error) => {
      killer ??= { name: 'a hook' };
      isLate ||= error instanceof LateError;
    });
    if (killer === null) continue;
    const until = part.tests.findIndex(({ id }) => id === killer.id);
    const shown = {
      path: part.path,
      tests: part.tests.slice(0, until === -1 ? part.tests.length : until + 1),
    };
    return { status: isLate ? 'late' : 'killed', by: killer.name, part: shown };
  }
  return { status: 'survived' };
}

class LateError extends Error {}

async function timed(task, limit) {
  forgetQuestions();
  let timer;
  const late = new Promise((_, reject) => {
    timer = later(() => reject(new LateError('late')), limit);
  });
  try {
    await Promise.race([task(), late]);
  } finally {
    never(timer);
  }
}

const HOOK_LIMIT = 20_000;
const hasWanted = (group, wants) =>
  group.entries.some((entry) => (entry.entries ? hasWanted(entry, wants) : wants(entry)));

async function runGroup(group, options) {
  if (!hasWanted(group, options.wants)) return;
  try {
    for (const hook of group.hooks.beforeAll) await timed(hook, HOOK_LIMIT);
    for (const entry of group.entries) {
      if (options.isOver()) break;
      if (entry.entries) await runGroup(entry, options);
      else if (options.wants(entry)) await runTest(entry, group, options);
    }
  } finally {
    if (options.isWatching) addTo(options.outer);
    jest.useRealTimers();
    for (const hook of group.hooks.afterAll) await timed(hook, HOOK_LIMIT);
  }
}

let watched = new Set();
function addTo(outer) {
  for (const id of watched) outer.add(id);
}

async function runTest(test, group, options) {
  if (options.isWatching) {
    addTo(options.outer);
    watched = watchReached();
  }
  const ways = [];
  for (let at = group; at !== null; at = at.parent) ways.unshift(at);
  const start = performance.now();
  let failure = null;
  const attemptAll = async (tasks) => {
    for (const task of tasks) {
      try {
        await timed(task, options.limit(test));
      } catch (error) {
        failure ??= error instanceof Error ? error : new Error(String(error));
      }
    }
  };
  await attemptAll(ways.flatMap(({ hooks }) => hooks.beforeEach));
  if (failure === null) await attemptAll([test.run]);
  await attemptAll(ways.toReversed().flatMap(({ hooks }) => hooks.afterEach.toReversed()));
  options.onTest(test, { failure, time: performance.now() - start, reached: watched });
  if (options.isWatching) watched = watchReached();
}
