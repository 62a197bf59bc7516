import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../../errors.js';
import type { Redis } from '../../redis/client.js';
import { makeComplete } from './completeness.js';
import type { IndexDefinition } from './definition.js';
import { createEngine, isMissing, toIndexUnavailable } from './engine.js';
import { createInspection, type Inspection, type OnProblem } from './inspection.js';

const RETRY_MILLISECONDS = 1_000;
const INSPECT_MILLISECONDS = 10_000;

interface LifecycleOptions {
  readonly client: Redis;
  /** Asked again until it answers: a model's dimensions may be known only to its provider. */
  readonly definitions: () => Promise<readonly IndexDefinition[]>;
  readonly onProblem: OnProblem;
}

/** What is known of the indexes, all of them together. */
interface State {
  isComplete: boolean;
  isBeingCompleted: boolean;
  /** Raised whenever what is known may be wrong: what began before that must begin again. */
  doubts: number;
}

export type Lifecycle = ReturnType<typeof createLifecycle>;

/**
 * Makes the indexes that are missing and knows whether they are whole. After a lost connection, which may have been a
 * restart that indexes anew, each index is looked at again.
 */
export function createLifecycle({ client, definitions, onProblem }: LifecycleOptions) {
  const engine = createEngine(client);
  const closing = new AbortController();
  const { signal } = closing;
  const state: State = { isComplete: false, isBeingCompleted: false, doubts: 0 };

  const makeAll = async () => {
    for (const definition of await definitions())
      await makeComplete(definition, { engine, onProblem, signal });
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
    /** Runs a query on whole indexes. @throws UnavailableError where they are not, or were not meanwhile */
    ask: <Answer>(query: () => Promise<Answer>): Promise<Answer> => askWhole(query, { state, doubt }),
    /** Waits for nothing: a provider that is asked for its dimensions may take a minute. */
    close: () => {
      clearInterval(inspecting);
      closing.abort();
    },
  };
}

/** Makes all indexes until that succeeds without a doubt in between, or `signal` aborts. */
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
  // In the same step as the last look at the doubts: a doubt that comes after it starts anew.
  state.isBeingCompleted = false;
}

/** A function, since TypeScript takes what was false before an `await` to be false after it, too. */
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
    // The next round, or a search, meets the same trouble and reports it.
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
