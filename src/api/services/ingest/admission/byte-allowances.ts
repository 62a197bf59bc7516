import { readOwned, type Quotas } from '../../../../shared/documents/counts.js';
import { OverQuotaError, TooManyError } from '../../../../shared/errors.js';
import type { Redis } from '../../../../shared/redis/client.js';
import { createTally } from '../../../../shared/tools/tally.js';

/** The owner of the bytes. */
export interface ByteOwner {
  readonly ownerId: string;
  /** The document and the bytes that it counts with already, which new content need not find in the rest of the quota. */
  readonly documentId: string;
  readonly counted: number;
}

/** The bytes that one upload may store. */
export interface ByteAllowance {
  /** Infinite without a quota. */
  readonly most: number;
  readonly overQuota: () => OverQuotaError;
  /** Must be called before bytes are stored. @throws OverQuotaError, TooManyError */
  readonly take: (bytes: number) => void;
  /** Notes that all bytes have come. Of one item of many, it stays open until all of these are closed. */
  readonly whole: () => void;
  /** Must be called when the bytes are dropped, and for an upload that is no item of many when they are stored. */
  readonly close: () => void;
}

/** The allowances of the items of one request, all of which are stored before the records of any of them are written. */
export interface ItemAllowances {
  /** Returns the bytes that the whole ones hold. */
  readonly held: () => number;
  readonly keep: (allowance: Pick<ByteAllowance, 'close'>, held: number) => void;
  readonly drop: (allowance: Pick<ByteAllowance, 'close'>) => void;
  /** Must be called when the records are written, and sources without one are removed. */
  readonly close: () => void;
}

export type AllowBytes = (owner: ByteOwner, items?: ItemAllowances) => Promise<ByteAllowance>;

export function createItemAllowances(): ItemAllowances {
  const whole = new Map<Pick<ByteAllowance, 'close'>, number>();
  return {
    held: () => [...whole.values()].reduce((sum, held) => sum + held, 0),
    keep: (allowance, held) => void whole.set(allowance, held),
    drop: (allowance) => void whole.delete(allowance),
    close: () => {
      for (const allowance of [...whole.keys()]) allowance.close();
    },
  };
}

const RETRY = { retryAfterSeconds: 5 };
const nothing = () => undefined;
/** The allowance of an owner without a quota. */
const UNBOUNDED: ByteAllowance = {
  most: Infinity,
  overQuota: () => {
    throw new Error('nothing is over no quota');
  },
  take: nothing,
  whole: nothing,
  close: nothing,
};

/**
 * Bounds the stored bytes of uploads before the step that writes their records asks the quota of bytes, which alone is
 * exact. The bound is the rest of the quota, for all of an owner's uploads that this process receives together. An upload
 * that would not fit alone, or beside the present items of its request, is over the quota; an upload that has to wait for
 * others may be tried again.
 */
export function createByteAllowances(redis: Redis, { bytes: quota }: Quotas): AllowBytes {
  const arriving = createTally();
  const replacing = new Set<string>();
  return async ({ ownerId, documentId, counted }, items) => {
    if (quota === null) return UNBOUNDED;
    const overQuota = () => new OverQuotaError('bytes', quota);
    const left = Math.max(0, quota - (await readOwned(redis, ownerId)).bytes);
    // Only one of several uploads in place of one content replaces it.
    const isReplacing = counted > 0 && !replacing.has(documentId);
    if (isReplacing) replacing.add(documentId);
    const free = isReplacing ? counted : 0;
    let held = 0;
    const hold = (wanted: number) => {
      arriving.add(ownerId, wanted - held);
      held = wanted;
    };
    const most = () => left + counted - (items?.held() ?? 0);
    const othersHold = () => arriving.of(ownerId) - held;
    const allowance: ByteAllowance = {
      most: most(),
      overQuota,
      take: createTake({ left, free, most, othersHold, hold, overQuota }),
      whole: () => items?.keep(allowance, held),
      close: () => {
        hold(0);
        items?.drop(allowance);
        if (isReplacing) replacing.delete(documentId);
      },
    };
    return allowance;
  };
}

interface Taking {
  /** The rest for all uploads, and the bytes that this one need not take of it. */
  readonly left: number;
  readonly free: number;
  readonly most: () => number;
  readonly othersHold: () => number;
  readonly hold: (bytes: number) => void;
  readonly overQuota: () => OverQuotaError;
}

function createTake({ left, free, most, othersHold, hold, overQuota }: Taking): ByteAllowance['take'] {
  let taken = 0;
  return (more) => {
    taken += more;
    const wanted = Math.max(0, taken - free);
    const isOver = taken > most();
    if (!isOver && othersHold() + wanted <= left) {
      hold(wanted);
      return;
    }
    // Others need not wait until this one is removed.
    hold(0);
    throw isOver ? overQuota() : new TooManyError('Too many bytes of your uploads arrive at once', RETRY);
  };
}
