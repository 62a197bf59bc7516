import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LlamaContextSequence } from 'node-llama-cpp';
import type { DiskWatch } from '../../../shared/disk/disk-watch.js';
import type { Logger } from '../../../shared/observability/logger.js';
import { loadState, type SavedState } from './load-state.js';

/** The state that a conversation had in its slot. */
export interface StateAside extends SavedState {
  /** Removes it. */
  discard(): Promise<void>;
}

/** Null without room for it: it is read anew then. */
export type PutAside = (sequence: LlamaContextSequence) => Promise<StateAside | null>;

/** More conversations that gave way at once are read anew, so that they do not fill the disk. */
const MAX_ASIDE = 8;

/** Files that are forgotten with the process: the next one removes files whose use no manifest tells. */
export function createPutAside(
  directory: string,
  { disk, logger }: { readonly disk: Pick<DiskWatch, 'requireRoom'>; readonly logger: Logger },
): PutAside {
  const kept = new Set<string>();
  return async (sequence) => {
    const tokens = sequence.contextTokens.slice();
    if (tokens.length === 0 || kept.size >= MAX_ASIDE) return null;
    const path = join(directory, `${randomUUID()}.aside`);
    kept.add(path);
    const discard = async () => {
      kept.delete(path);
      await rm(path, { force: true });
    };
    try {
      await disk.requireRoom(sequence.context.stateSize);
      await sequence.saveStateToFile(path);
      return { tokens, load: (into) => loadState(path, into, discard), discard };
    } catch (error) {
      logger.warn({ err: error }, 'conversation not put aside');
      await discard();
      return null;
    }
  };
}
