import { setTimeout as sleep } from 'node:timers/promises';
import { sumOf } from '../../at.js';
import { UnavailableError } from '../../errors.js';
import type { OnProblem } from '../../ports.js';
import type { Redis } from '../../redis/client.js';
import { hasShape, chunkIndex, CHUNK_INDEXES, type IndexDefinition, type VectorSpace } from './definition.js';
import { createEngine, isMissing, toIndexUnavailable, type Engine, type IndexInfo } from './engine.js';

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

const POLL_MILLISECONDS = 100;
/** The progress of an index that is being built is reported once in this many polls. */
const POLLS_PER_REPORT = 100;

interface Making {
  readonly engine: Engine;
  readonly onProblem: OnProblem;
  readonly signal: AbortSignal;
}

/** Creates an index that is missing or has another shape. Resolves once it holds every hash and has its alias. */
async function ensureIndex(definition: IndexDefinition, making: Making): Promise<void> {
  const { engine, onProblem } = making;
  const { alias, name } = definition;
  const found = await engine.info(name);
  if (found && !hasShape(found, definition)) {
    onProblem('an index of this name has another shape: it is built anew', { level: 'warn', index: name });
    await engine.drop(name);
  }
  await engine.create(definition);
  await untilComplete(name, making);
  await engine.addAlias(alias, name);
}

async function untilComplete(name: string, { engine, onProblem, signal }: Making): Promise<void> {
  for (let polls = 1; ; polls += 1) {
    const info = await engine.info(name);
    if (!info) throw new UnavailableError('index');
    if (info.isComplete) return;
    if (polls % POLLS_PER_REPORT === 0) {
      const { share, progress } = info;
      const level = progress === 'OK' ? 'warn' : 'error';
      onProblem('the index is not whole yet', { level, index: name, share, progress });
    }
    await sleep(POLL_MILLISECONDS, undefined, { signal });
  }
}

/** Looks at the serving indexes, and reports problems that keep hashes from being found. */
interface Inspection {
  /** @returns false when an index does not exist any more */
  inspect(definitions: readonly IndexDefinition[]): Promise<boolean>;
}

function createInspection(engine: Engine, onProblem: OnProblem): Inspection {
  /** Failures that were reported so far, by the name of the index. */
  const reported = new Map<string, number>();
  let hasWarnedOfSize = false;
  return {
    inspect: async (definitions) => {
      for (const { alias, crowdedAt } of definitions) {
        const info = await engine.info(alias);
        if (!info) return false;
        if (info.failures > sumOf(reported, info.name)) reportFailures(info, onProblem);
        reported.set(info.name, info.failures);
        if (crowdedAt === null || info.count <= crowdedAt || hasWarnedOfSize) continue;
        hasWarnedOfSize = true;
        warnOfSize(info, onProblem);
      }
      return true;
    },
  };
}

/** Reports hashes that the engine could not take in, since searches do not find these. */
function reportFailures({ name, failures, lastFailure }: IndexInfo, onProblem: OnProblem): void {
  onProblem('the index could not take in what it was given', {
    level: 'error',
    index: name,
    failures,
    lastKey: lastFailure.key,
    reason: lastFailure.reason,
  });
}

function warnOfSize({ name, count }: IndexInfo, onProblem: OnProblem): void {
  onProblem(
    'the index is large for a FLAT one: with vectors of a model query_engine.algorithm = "hnsw" answers faster',
    { level: 'warn', index: name, chunks: count },
  );
}

const BUILD_POLL_MILLISECONDS = 200;

/** Builds an index beside the serving one, which it will replace later. */
export function createIndexBuilder(redis: Redis) {
  const engine = createEngine(redis);
  return {
    /** Starts to build the index if it does not exist. @returns its name */
    create: async (space: VectorSpace): Promise<string> => {
      const definition = chunkIndex(space);
      await engine.create(definition);
      return definition.name;
    },
    /** Waits until the index holds every hash. @param onProgress is told how many chunks it has so far */
    untilWhole: async (
      name: string,
      { signal, onProgress }: { signal: AbortSignal; onProgress: (chunks: number) => void },
    ): Promise<void> => {
      for (;;) {
        const info = await engine.info(name);
        if (!info) throw new Error(`the index ${name} is gone`);
        if (info.isComplete) return;
        onProgress(info.count);
        await sleep(BUILD_POLL_MILLISECONDS, undefined, { signal });
      }
    },
    /** Drops all other indexes over chunks. The chunks themselves stay. */
    dropOthers: async (serving: string): Promise<void> => {
      for (const name of await engine.names()) {
        if (name.startsWith(CHUNK_INDEXES) && name !== serving) await engine.drop(name);
      }
    },
  };
}
