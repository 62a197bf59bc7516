import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../../../errors.js';
import type { OnProblem } from '../../../ports.js';
import type { Redis } from '../../../redis/client.js';
import { ensureIndex } from './ensure-index.js';
import type { IndexDefinition } from '../definition.js';
import { createEngine, isMissing, toIndexUnavailable } from '../engine.js';
import { createInspection, type Inspection } from './inspection.js';

const RETRY_MILLISECONDS = 1_000;
const INSPECT_MILLISECONDS = 10_000;

interface LifecycleOptions {
  readonly client: Redis;
  /** Called until it succeeds: perhaps only the provider knows the dimensions of a model. */
  readonly definitions: () => Promise<readonly IndexDefinition[]>;
  readonly onProblem: OnProblem;
}

/** The state of all indexes together. */
interface State {
  isComplete: boolean;
  isBeingCompleted: boolean;
  /** Raised whenever that may be wrong. Work that began before must begin again. */
  doubts: number;
}

export type Lifecycle = ReturnType<typeof createLifecycle>;

/**
 * Creates the indexes that are missing and knows whether they are whole. It looks at each index again after a lost connection,
 * since the server may have restarted and may be indexing anew.
 */
export function createLifecycle({ client, definitions, onProblem }: LifecycleOptions) {
  const engine = createEngine(client);
  const closing = new AbortController();
  const { signal } = closing;
  const state: State = { isComplete: false, isBeingCompleted: false, doubts: 0 };

  const makeAll = async () => {
    for (const definition of await definitions())
      await ensureIndex(definition, { engine, onProblem, signal });
  };
  const doubt = () => {
    state.isComplete = false;
    state.doubts += 1;
    if (!state.isBeingCompleted) void complete(state, { makeAll, onProblem, signal });
  };
  const inspecting = startInspecting(createInspection(engine, onProblem), {
    definitions: () => (state.isComplete ? definitions() : Promise.resolve([])),
    onMissing: doubt,
  });

  client.on('error', doubt);
  client.on('ready', doubt);
  doubt();

  return {
    get state(): 'loading' | 'ready' {
      return state.isComplete ? 'ready' : 'loading';
    },
    /** Runs a query on whole indexes. @throws UnavailableError when they are not whole, or were not for a moment meanwhile */
    ask: <Answer>(query: () => Promise<Answer>): Promise<Answer> => askWhole(query, { state, doubt }),
    /** Does not wait for anything: a provider that is asked for its dimensions may take a minute. */
    close: () => {
      clearInterval(inspecting);
      closing.abort();
    },
  };
}

/** Completes all indexes, repeating it until nothing raised a doubt in between or `signal` aborts. */
async function complete(
  state: State,
  {
    makeAll,
    onProblem,
    signal,
  }: { readonly makeAll: () => Promise<void>; readonly onProblem: OnProblem; readonly signal: AbortSignal },
): Promise<void> {
  state.isBeingCompleted = true;
  while (!signal.aborted) {
    const { doubts } = state;
    try {
      await makeAll();
      if (doubts !== state.doubts) continue;
      state.isComplete = true;
      break;
    } catch (error) {
      if (isAborted(signal)) break;
      if (!(toIndexUnavailable(error) instanceof UnavailableError)) {
        onProblem('the index cannot be made', { level: 'error', error: String(error) });
      }
      await sleep(RETRY_MILLISECONDS, undefined, { signal }).catch(() => undefined);
    }
  }
  // This happens in the same step as the last look at the doubts: a later doubt starts `complete` again.
  state.isBeingCompleted = false;
}

/** This is a function because TypeScript assumes that a property keeps its value across an `await`. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;

function startInspecting(
  inspection: Inspection,
  {
    definitions,
    onMissing,
  }: { readonly definitions: LifecycleOptions['definitions']; readonly onMissing: () => void },
): NodeJS.Timeout {
  const inspectAll = async () => {
    if (!(await inspection.inspect(await definitions()))) onMissing();
  };
  const timer = setInterval(() => {
    // The next round, or a search, meets the same problem and reports it.
    inspectAll().catch(() => undefined);
  }, INSPECT_MILLISECONDS);
  return timer.unref();
}

async function askWhole<Answer>(
  query: () => Promise<Answer>,
  { state, doubt }: { readonly state: State; readonly doubt: () => void },
): Promise<Answer> {
  if (!state.isComplete) throw new UnavailableError('index');
  const { doubts } = state;
  try {
    const answer = await query();
    if (doubts !== state.doubts) throw new UnavailableError('index');
    return answer;
  } catch (error) {
    if (isMissing(error)) doubt();
    throw toIndexUnavailable(error);
  }
}
