import { longestTurn } from '../turns.js';
import type { Borrower, Lending, LentService, WantedService } from './messages.js';
import { startRunning, type Running } from './running.js';

/**
 * The number of kept services that no file uses at the moment, and how long each of them waits for one. It takes some 400 MB,
 * and a twenty-fifth of a processor, so that it has cost as much as a start then.
 */
const MAX_IDLE = 3;
const MAX_IDLE_MILLISECONDS = 150_000;

interface Kept {
  readonly id: string;
  readonly kind: string;
  readonly starting: Promise<Running>;
  /** Once it has started. */
  running: Running | null;
  /** The present user of it. */
  borrower: Borrower | null;
  /** Ends it while it has none. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * Services that are running, each used by one test file at a time: by the next that wants its settings, whichever Jest
 * worker runs it.
 */
export function createServices() {
  /** The one that was used last is the last. */
  let kept: Kept[] = [];
  let count = 0;

  const forget = (one: Kept) => {
    kept = kept.filter((each) => each !== one);
  };
  const discard = async (one: Kept) => {
    clearTimeout(one.timer);
    forget(one);
    await (await one.starting).stop();
  };
  const giveBack = (one: Kept) => {
    one.borrower = null;
    one.running?.setProvider(null);
    // One that never came up has stopped itself.
    one.timer = setTimeout(() => void Promise.allSettled([discard(one)]), MAX_IDLE_MILLISECONDS).unref();
  };

  const takeBack = (worker: string, exceptFile?: string) => {
    for (const each of kept)
      if (each.borrower?.worker === worker && each.borrower.file !== exceptFile) giveBack(each);
  };

  const find = (kind: string, { file }: Borrower) => {
    const found = kept.filter((each) => each.kind === kind);
    return found.find((each) => each.borrower?.file === file) ?? found.find((each) => !each.borrower);
  };

  const startNew = (kind: string, { wanted, providerUrl }: Lending): Kept => {
    const starting = startRunning(wanted, providerUrl);
    const id = String((count += 1));
    const one: Kept = { id, kind, starting, running: null, borrower: null, timer: undefined };
    starting.then(
      (running) => (one.running = running),
      () => {
        forget(one);
      },
    );
    kept.push(one);
    return one;
  };

  const discardSurplus = async () => {
    const idle = kept.filter((each) => !each.borrower);
    await Promise.all(idle.slice(0, Math.max(0, idle.length - MAX_IDLE)).map(discard));
  };

  /** A running service with the wanted settings: one from before where it is still whole, else a new one. */
  async function lend(lending: Lending): Promise<LentService> {
    const { borrower, wanted, providerUrl } = lending;
    // A file that ended in the middle has given nothing back.
    takeBack(borrower.worker, borrower.file);
    const kind = nameOf(wanted);
    const before = find(kind, borrower);
    if (before?.running?.isWhole() === false) await discard(before);
    const one = find(kind, borrower) ?? startNew(kind, lending);
    one.borrower = borrower;
    clearTimeout(one.timer);
    const number = (count += 1);
    kept = [...kept.filter((each) => each !== one), one];
    const [running] = await Promise.all([one.starting, discardSurplus()]);
    running.setProvider(providerUrl);
    return { ...running.describe(), id: one.id, number };
  }

  function runningOf(id: string): Running {
    const running = kept.find((each) => each.id === id)?.running;
    if (!running) throw new Error(`no service ${id}`);
    return running;
  }

  return {
    lend,
    /** Takes back the services of a worker's file, which is over. */
    takeBack: (worker: string) => {
      takeBack(worker);
    },
    /** The logs of its processes. */
    output: (id: string) => {
      const { api, workers } = runningOf(id).service;
      return { api: api.output(), workers: workers.map((each) => each.output()) };
    },
    /** As `longestTurn` of its API. */
    longestTurn: async (id: string) => longestTurn(runningOf(id).service.api),
    stop: async () => {
      // One that never came up has stopped itself.
      await Promise.allSettled(kept.map(discard));
    },
  };
}

const nameOf = ({ env, onQueryEngine, providedBy }: WantedService) =>
  JSON.stringify([onQueryEngine, providedBy, Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))]);
