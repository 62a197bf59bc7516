import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from '../../../redis/client.js';
import { chunkIndex, CHUNK_INDEXES, type VectorSpace } from '../definition.js';
import { createEngine } from '../engine.js';

const POLL_MILLISECONDS = 200;

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
        await sleep(POLL_MILLISECONDS, undefined, { signal });
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
