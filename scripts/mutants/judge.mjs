// Judges mutants: which tests are run with each of them, and what comes of it.
import { loads } from './choose-tests.mjs';
import { SilentError, startProcess } from './process.mjs';

/** The tests of one mutant take this long at most without it, the room's own first. */
const MAX_MILLISECONDS = 12_000;
/** A test that takes longer than this by itself is left out, and so is a file whose preparations do. */
const MAX_OF_TEST = 6_000;
/** The slower tests of a file are run once no quick one has noticed. */
const QUICK_MILLISECONDS = 400;
const LOADING_MILLISECONDS = 120_000;

/** @param given.renewServers ends what a script of a mutant may keep busy for ever, and starts it anew */
export async function createJudge({ folder, chosen, say, renewServers }) {
  let running;
  const files = chosen.map(({ path }) => path);
  const start = async (paths, mutant) => {
    const started = startProcess(folder);
    return { started, ...(await started.ask({ ask: 'load', paths, mutant }, LOADING_MILLISECONDS)) };
  };
  const restart = async () => {
    await running?.stop();
    await renewServers();
    ({ started: running } = await start(usable));
  };
  const first = await start(files, 0);
  running = first.started;
  for (const { path, message } of first.failed) say(`${path} cannot be loaded: ${message}`);
  const failed = new Set(first.failed.map(({ path }) => path));
  const atLoading = new Set(first.reached);
  const usable = files.filter((path) => !failed.has(path));
  const surveyed = [];
  for (const path of [...usable]) {
    try {
      surveyed.push(await running.ask({ ask: 'survey', path }, 60_000));
    } catch {
      say(`${path} does not end`);
      usable.splice(usable.indexOf(path), 1);
      await restart();
    }
  }
  const known = sift(surveyed, chosen, say);
  await restart();

  const ask = async (process, mutant, plan) => {
    const budget = plan.reduce((sum, { expected }) => sum + expected, 0);
    try {
      return await process.ask({ ask: 'run', mutant, plan }, 30_000 + 10 * budget);
    } catch (error) {
      if (!(error instanceof SilentError)) throw error;
      return { status: 'late' };
    }
  };

  /** In the running process, by the tests that reach it. */
  const judgeReached = async (id) => {
    const plan = planOf(known, ({ reached }) => reached.has(id));
    if (plan.length === 0) return { status: 'unreached' };
    let outcome = await ask(running, id, plan);
    if (outcome.isSpoilt) {
      // Data that the mutant, or one before it, left behind fails the test by itself.
      await restart();
      const part = [
        {
          ...outcome.part,
          tests: known.find(({ path }) => path === outcome.part.path).tests,
          expected: 5_000,
        },
      ];
      outcome = await ask(running, id, part);
      if (outcome.isSpoilt) outcome = { status: 'survived' };
      await restart();
    } else if (outcome.status === 'late') {
      // On a busy machine a test may be late for no reason of the mutant's.
      await restart();
      outcome = await ask(running, id, withPatience(plan));
      if (outcome.status === 'late') await restart();
    }
    return outcome;
  };

  /** In a process of its own, where modules are loaded with the mutant. */
  const judgeLoaded = async (mutant, module) => {
    const near = known.filter(
      (each) => each.direct.includes(module) || (each.isOwn && loads(each.path, module)),
    );
    const plan = planOf(near, () => true);
    if (plan.length === 0) return { status: 'unreached' };
    // The quick and the slow tests of a file are two parts, and a file defines its tests only the first time.
    const paths = [...new Set(plan.map(({ path }) => path))];
    const { started, failed: broken } = await start(paths, mutant.id).catch(() => ({ failed: [0] }));
    try {
      if (broken.length > 0) return { status: 'killed', by: 'loading' };
      const outcome = await ask(started, mutant.id, plan);
      if (outcome.status === 'late') await renewServers();
      return outcome;
    } finally {
      await started?.stop();
    }
  };

  return {
    judge: async (mutant, module) => {
      const outcome = await judgeReached(mutant.id);
      const isLoaded = atLoading.has(mutant.id);
      return isLoaded && ['survived', 'unreached'].includes(outcome.status)
        ? judgeLoaded(mutant, module)
        : outcome;
    },
    stop: () => running.stop(),
  };
}

/** Tests that can be relied on: quick enough, and passing by themselves. */
function sift(surveyed, chosen, say) {
  return surveyed.flatMap(({ path, tests, hooks }) => {
    const { direct, isOwn } = chosen.find((each) => each.path === path);
    const failing = tests.filter(({ isFailed }) => isFailed);
    for (const { name, message } of failing)
      say(`${path}: "${name}" fails without a mutant: ${message.split('\n')[0]}`);
    if (hooks > MAX_OF_TEST) say(`${path} takes ${Math.round(hooks)} ms to prepare`);
    if (hooks > MAX_OF_TEST || failing.some(({ id }) => id === -1)) return [];
    const usable = tests
      .filter(({ isFailed, time }) => !isFailed && time < MAX_OF_TEST)
      .map((each) => ({
        id: each.id,
        time: each.time,
        reached: new Set(each.reached),
        limit: 2_000 + 10 * each.time,
      }));
    return usable.length === 0 ? [] : [{ path, hooks, direct, isOwn, tests: usable }];
  });
}

/** The room's own files first, then quick ones first. */
function planOf(known, wants) {
  const parts = known
    .flatMap((file) => [
      partOf(file, (test) => wants(test) && test.time < QUICK_MILLISECONDS),
      partOf(file, (test) => wants(test) && test.time >= QUICK_MILLISECONDS),
    ])
    .filter(({ tests }) => tests.length > 0)
    .sort((a, b) => Number(b.isOwn) - Number(a.isOwn) || a.expected - b.expected);
  let left = MAX_MILLISECONDS;
  return parts.filter(({ expected }, i) => {
    left -= expected;
    return left > 0 || i === 0;
  });
}

const withPatience = (plan) =>
  plan.map((part) => ({ ...part, tests: part.tests.map(({ id, limit }) => ({ id, limit: 3 * limit })) }));

function partOf({ path, hooks, isOwn, tests }, wants) {
  const wanted = tests.filter(wants);
  const expected = hooks + wanted.reduce((sum, { time }) => sum + time, 0);
  return { path, isOwn, expected, tests: wanted.map(({ id, limit }) => ({ id, limit })) };
}
