import { readOwned, type Quotas } from '../../../../shared/documents/owned.js';
import { OverQuotaError, TooManyError } from '../../../../shared/errors.js';
import type { Redis } from '../../../../shared/redis/client.js';
import { createTally } from '../../../../shared/tools/tally.js';

/** Whose bytes they are. */
export interface ByteOwner {
  readonly ownerId: string;
  /** The document and the bytes that it counts with already, of which new content has to be no part of what is left. */
  readonly documentId: string;
  readonly counted: number;
}

/** What one upload may store. */
export interface ByteAllowance {
  /** Infinite without a quota. */
  readonly most: number;
  readonly overQuota: () => OverQuotaError;
  /** Must be called before bytes are stored. @throws OverQuotaError, TooManyError */
  readonly take: (bytes: number) => void;
  /** Must be called when all bytes are stored, or dropped. */
  readonly close: () => void;
}

export type AllowBytes = (owner: ByteOwner) => Promise<ByteAllowance>;

const RETRY = { retryAfterSeconds: 5 };

/**
 * Bounds what is stored of uploads before the step that writes their records asks the quota of bytes, which alone is exact:
 * what is left of the quota, for all of an owner's uploads that this process receives together. What would not fit even alone
 * is over the quota; what has to wait for others may be tried again.
 */
export function createByteAllowances(redis: Redis, { bytes: quota }: Quotas): AllowBytes {
  const arriving = createTally();
  const replacing = new Set<string>();
  return async ({ ownerId, documentId, counted }) => {
    const overQuota = () => new OverQuotaError('bytes', quota ?? 0);
    if (quota === null) return { most: Infinity, overQuota, take: () => undefined, close: () => undefined };
    const left = Math.max(0, quota - (await readOwned(redis, ownerId)).bytes);
    // Of several uploads in place of one content, only one replaces it.
    const isReplacing = counted > 0 && !replacing.has(documentId);
    if (isReplacing) replacing.add(documentId);
    const free = isReplacing ? counted : 0;
    let taken = 0;
    let held = 0;
    const hold = (wanted: number) => {
      arriving.add(ownerId, wanted - held);
      held = wanted;
    };
    return {
      most: left + counted,
      overQuota,
      take: (more) => {
        taken += more;
        const others = arriving.of(ownerId) - held;
        const wanted = Math.max(0, taken - free);
        if (taken <= left + counted && others + wanted <= left) {
          hold(wanted);
          return;
        }
        // Others need not wait until this one is removed.
        hold(0);
        throw taken > left + counted
          ? overQuota()
          : new TooManyError('Too many bytes of your uploads arrive at once', RETRY);
      },
      close: () => {
        hold(0);
        if (isReplacing) replacing.delete(documentId);
      },
    };
  };
}
