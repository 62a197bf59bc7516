/** An object that takes memory, and may take more with time. */
interface Sized {
  readonly bytes: number;
}

/** Masks by key, within a budget of memory. The masks that were not used for longest are dropped first. */
export interface MaskCache<Mask extends Sized> {
  get(key: string): Mask | undefined;
  /** Stores a mask, or updates the size of one that has grown, and makes it the one that was used last. */
  keep(key: string, mask: Mask): void;
  readonly held: { readonly bytes: number; readonly masks: number };
  clear(): void;
}

export function createMaskCache<Mask extends Sized>(maxBytes: number): MaskCache<Mask> {
  /** Ordered by last use, the oldest first; `bytes` is the size of the mask at that time. */
  const kept = new Map<string, { readonly mask: Mask; readonly bytes: number }>();
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
