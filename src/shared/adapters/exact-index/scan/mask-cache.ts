import type { WorkingMask } from './working-mask.js';

/** Masks by their key within a budget of memory; those that were not used for longest are dropped. */
export interface MaskCache {
  get(key: string): WorkingMask | undefined;
  /** Stores a mask, or takes account of its growth, as the one that was used last. */
  keep(key: string, mask: WorkingMask): void;
  readonly held: { readonly bytes: number; readonly masks: number };
  clear(): void;
}

export function createMaskCache(maxBytes: number): MaskCache {
  /** In the order of their last use, the least recent first; `bytes` is what a mask held then. */
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
