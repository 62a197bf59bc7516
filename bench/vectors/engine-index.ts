import { setTimeout as sleep } from 'node:timers/promises';
import { RESP_TYPES } from 'redis';
import { callerTags } from '../../src/shared/access/access.js';
import {
  nearestQuery,
  readChunkReply,
  type SearchEffort,
} from '../../src/shared/adapters/query-engine-index/chunk-query.js';
import { compileClause } from '../../src/shared/adapters/query-engine-index/clause.js';
import { chunkIndex, type VectorAlgorithm } from '../../src/shared/adapters/query-engine-index/definition.js';
import { createEngine } from '../../src/shared/adapters/query-engine-index/engine.js';
import type { VectorType } from '../../src/shared/data-set/stored-vectors.js';
import type { Redis } from '../../src/shared/redis/client.js';
import { round } from '../support/client.js';
import { rowOf, SETS } from './fill.js';
import type { ReaderName } from './readers.js';

const POLL_MILLISECONDS = 50;
const FREE_MILLISECONDS = 1_000;
const SETTLED_BYTES = 1e5;

export interface EngineIndex {
  readonly buildSeconds: number;
  /** The size of the index alone: the hashes were there before. */
  readonly megabytes: number;
  /** FT.SEARCH as the service sends it. @returns the rows found, best first, and the milliseconds until the reply */
  ask(vector: Float32Array, how: Ask): Promise<{ readonly rows: number[]; readonly milliseconds: number }>;
  /** Processor time of the engine so far, which other work on the machine changes little. */
  readonly processorMilliseconds: () => Promise<number>;
  drop(): Promise<void>;
}

export interface Ask {
  readonly reader: ReaderName;
  readonly limit: number;
  readonly effort: SearchEffort;
  /** Leaves it to the engine whether it walks the graph. */
  readonly isEnginesChoice?: boolean;
}

/** Indexes all chunks as the service would, and waits until the engine has taken them in. */
export async function buildEngineIndex(
  redis: Redis,
  space: {
    readonly dimensions: number;
    readonly vectorType: VectorType;
    readonly algorithm: VectorAlgorithm;
  },
): Promise<EngineIndex> {
  const { vectorType } = space;
  const engine = createEngine(redis);
  const definition = chunkIndex({ ...space, model: 'bench', vectors: SETS[vectorType] });
  const before = await usedMemory(redis);
  const begun = performance.now();
  await engine.create(definition);
  while ((await engine.info(definition.name))?.isComplete !== true) await sleep(POLL_MILLISECONDS);
  const buildSeconds = round((performance.now() - begun) / 1_000, 1);
  const megabytes = round(((await usedMemory(redis)) - before) / 1e6, 1);
  const binary = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.MAP]: Array });
  return {
    buildSeconds,
    megabytes,
    ask: async (vector, { reader, limit, effort, isEnginesChoice = false }) => {
      const within = compileClause(callerTags({ id: reader }, []), null)?.text ?? '';
      const [text, ...rest] = nearestQuery(within, { vector, limit }, { vectorType, effort });
      const query = [
        isEnginesChoice ? String(text).replace(' HYBRID_POLICY BATCHES', '') : String(text),
        ...rest,
      ];
      const sent = performance.now();
      const reply = await binary.sendCommand([
        'FT.SEARCH',
        definition.name,
        ...query,
        'TIMEOUT',
        '10000',
        'DIALECT',
        '2',
      ]);
      const milliseconds = performance.now() - sent;
      return { rows: readChunkReply(reply).candidates.map(rowOf), milliseconds };
    },
    processorMilliseconds: async () => {
      const told = (await redis.info('cpu')).matchAll(/used_cpu_(?:user|sys)_main_thread:([\d.]+)/gu);
      return [...told].reduce((sum, [, seconds]) => sum + 1_000 * Number(seconds), 0);
    },
    drop: async () => {
      await engine.drop(definition.name);
      await untilFreed(redis);
    },
  };
}

/** An index that was dropped is freed in the background. */
async function untilFreed(redis: Redis): Promise<void> {
  for (let before = Infinity, now = await usedMemory(redis); before - now > SETTLED_BYTES;) {
    await sleep(FREE_MILLISECONDS);
    [before, now] = [now, await usedMemory(redis)];
  }
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}
