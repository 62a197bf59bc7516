import type { WorkingMask } from './working-mask.js';

/** Masks by key, within a budget of memory. The masks that were not used for longest are dropped first. */
export interface MaskCache {
  get(key: string): WorkingMask | undefined;
  /** Stores a mask, or updates the size of one that has grown, and makes it the one that was used last. */
  keep(key: string, mask: WorkingMask): void;
  readonly held: { readonly bytes: number; readonly masks: number };
  clear(): void;
}

export function createMaskCache(maxBytes: number): MaskCache {
  /** Ordered by last use, the oldest first; `bytes` is the size of the mask at that time. */
  const kept = new Map<string, { readonly mask: WorkingMask; readonly bytes: number }>();
  let bytes = 0;

  const drop = (key: string) => {
    const entry = kept.get(key);
    if (!entry) return;
    bytes -= entry.bytes;
    kept.delete(key);
  };
  return {
    get: (key) => kept.get(key)?.mask,
    keep: (key, mask) => {
      drop(key);
      kept.set(key, { mask, bytes: mask.bytes });
      bytes += mask.bytes;
      for (const oldest of kept.keys()) {
        if (bytes <= maxBytes) break;
        drop(oldest);
      }
    },
    get held() {
      return { bytes, masks: kept.size };
    },
    clear: () => {
      kept.clear();
      bytes = 0;
    },
  };
}
