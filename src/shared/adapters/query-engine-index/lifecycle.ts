import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../../errors.js';
import type { Redis } from '../../redis.js';
import { hasShape, type IndexDefinition } from './definition.js';
import { createEngine, isMissing, toIndexUnavailable } from './engine.js';

export type OnProblem = (message: string, fields: Readonly<Record<string, unknown>>) => void;

const POLL_MILLISECONDS = 100;
/** Of polls for an index that is being built: whoever waits is told how far it is. */
const POLLS_A_REPORT = 100;
const RETRY_MILLISECONDS = 1_000;
const INSPECT_MILLISECONDS = 10_000;

/**
 * Makes the indexes that are missing and knows whether they are whole. After a lost connection, which may have been a
 * restart that indexes anew, each index is looked at again.
 */
export function createLifecycle(parts: {
  readonly client: Redis;
  /** Asked again until it answers: a model's dimensions may be known only to its provider. */
  readonly definitions: () => Promise<readonly IndexDefinition[]>;
  readonly onProblem: OnProblem;
}) {
  const { client, definitions, onProblem } = parts;
  const engine = createEngine(client);
  const closing = new AbortController();
  const isClosing = () => closing.signal.aborted;
  let isReady = false;
  let isSettling = false;
  /** Raised whenever what is known may be wrong: a settling that began before it must begin again. */
  let doubts = 0;

  const untilComplete = async (name: string): Promise<void> => {
    for (let polls = 1; ; polls += 1) {
      const info = await engine.info(name);
      if (!info) throw new UnavailableError('index');
      if (info.isComplete) return;
      if (polls % POLLS_A_REPORT === 0) {
        const { share, progress } = info;
        const level = progress === 'OK' ? 'warn' : 'error';
        onProblem('the index is not whole yet', { level, index: name, share, progress });
      }
      await sleep(POLL_MILLISECONDS, undefined, { signal: closing.signal });
    }
  };

  const ensure = async (definition: IndexDefinition): Promise<void> => {
    const { alias, name } = definition;
    const found = await engine.info(name);
    if (found && !hasShape(found, definition)) {
      onProblem('an index of this name has another shape: it is built anew', { level: 'warn', index: name });
      await engine.drop(name);
    }
    await engine.create(definition);
    await untilComplete(name);
    await engine.addAlias(alias, name);
  };

  const settle = async (): Promise<void> => {
    while (!isClosing()) {
      const started = doubts;
      try {
        for (const definition of await definitions()) await ensure(definition);
        if (started !== doubts) continue;
        isReady = true;
        break;
      } catch (error) {
        if (isClosing()) break;
        if (!(toIndexUnavailable(error) instanceof UnavailableError)) {
          onProblem('the index cannot be made', { level: 'error', error: String(error) });
        }
        await sleep(RETRY_MILLISECONDS, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
    // In the same step as the last look at the doubts: one that comes after it settles anew.
    isSettling = false;
  };

  const doubt = () => {
    isReady = false;
    doubts += 1;
    if (isSettling) return;
    isSettling = true;
    void settle();
  };

  const failures = new Map<string, number>();
  let hasWarned = false;
  /** Hashes that the engine could not take in are not searched: that must not stay unseen. */
  const inspect = async () => {
    for (const { alias, crowdedAt } of isReady ? await definitions() : []) {
      const info = await engine.info(alias);
      if (!info) {
        doubt();
        return;
      }
      if (info.failures > (failures.get(info.name) ?? 0)) {
        onProblem('the index could not take in what it was given', {
          ...{ level: 'error', index: info.name, failures: info.failures },
          ...{ lastKey: info.lastFailure.key, reason: info.lastFailure.reason },
        });
      }
      failures.set(info.name, info.failures);
      if (crowdedAt !== null && info.count > crowdedAt && !hasWarned) {
        hasWarned = true;
        onProblem(
          'the index is large for a FLAT one: with vectors of a model query_engine.algorithm = "hnsw" answers faster',
          {
            ...{ level: 'warn', index: info.name, chunks: info.count },
          },
        );
      }
    }
  };
  const inspecting = setInterval(() => {
    // The next round, or a search, meets the same trouble and tells of it.
    inspect().catch(() => undefined);
  }, INSPECT_MILLISECONDS);
  inspecting.unref();

  client.on('error', doubt);
  client.on('ready', doubt);
  doubt();

  return {
    get state(): 'loading' | 'ready' {
      return isReady ? 'ready' : 'loading';
    },
    /** Runs a query on whole indexes. @throws UnavailableError where they are not, or were not meanwhile */
    ask: async <Answer>(query: () => Promise<Answer>): Promise<Answer> => {
      if (!isReady) throw new UnavailableError('index');
      const started = doubts;
      try {
        const answer = await query();
        if (started !== doubts) throw new UnavailableError('index');
        return answer;
      } catch (error) {
        if (isMissing(error)) doubt();
        throw toIndexUnavailable(error);
      }
    },
    /** Waits for nothing: a provider that is asked for its dimensions may take a minute. */
    close: () => {
      clearInterval(inspecting);
      closing.abort();
    },
  };
}
