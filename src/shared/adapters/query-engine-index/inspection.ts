import type { IndexDefinition } from './definition.js';
import type { Engine, IndexInfo } from './engine.js';

export type OnProblem = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/** Looks at indexes that serve and reports what keeps hashes from being found. */
export interface Inspection {
  /** @returns false when an index is gone */
  inspect(definitions: readonly IndexDefinition[]): Promise<boolean>;
}

export function createInspection(engine: Engine, onProblem: OnProblem): Inspection {
  /** Failures reported so far, by the name of the index. */
  const reported = new Map<string, number>();
  let hasWarnedOfSize = false;

  /** Hashes that the engine could not take in are not searched: that must not stay unseen. */
  const reportFailures = ({ name, failures, lastFailure }: IndexInfo) => {
    // Nothing is remembered of an index that is seen for the first time.
    if (failures > (reported.get(name) ?? 0)) {
      onProblem('the index could not take in what it was given', {
        level: 'error',
        index: name,
        failures,
        lastKey: lastFailure.key,
        reason: lastFailure.reason,
      });
    }
    reported.set(name, failures);
  };

  const warnOfSize = ({ name, count }: IndexInfo, crowdedAt: number | null) => {
    if (crowdedAt === null || count <= crowdedAt || hasWarnedOfSize) return;
    hasWarnedOfSize = true;
    onProblem(
      'the index is large for a FLAT one: with vectors of a model query_engine.algorithm = "hnsw" answers faster',
      { level: 'warn', index: name, chunks: count },
    );
  };

  return {
    inspect: async (definitions) => {
      for (const { alias, crowdedAt } of definitions) {
        const info = await engine.info(alias);
        if (!info) return false;
        reportFailures(info);
        warnOfSize(info, crowdedAt);
      }
      return true;
    },
  };
}
