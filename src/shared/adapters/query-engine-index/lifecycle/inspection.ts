import type { OnProblem } from '../../../ports.js';
import type { IndexDefinition } from '../definition.js';
import type { Engine, IndexInfo } from '../engine.js';

/** Looks at the serving indexes, and reports problems that keep hashes from being found. */
export interface Inspection {
  /** @returns false when an index does not exist any more */
  inspect(definitions: readonly IndexDefinition[]): Promise<boolean>;
}

export function createInspection(engine: Engine, onProblem: OnProblem): Inspection {
  /** Failures that were reported so far, by the name of the index. */
  const reported = new Map<string, number>();
  let hasWarnedOfSize = false;
  return {
    inspect: async (definitions) => {
      for (const { alias, crowdedAt } of definitions) {
        const info = await engine.info(alias);
        if (!info) return false;
        // An index that is seen for the first time has no entry.
        if (info.failures > (reported.get(info.name) ?? 0)) reportFailures(info, onProblem);
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
