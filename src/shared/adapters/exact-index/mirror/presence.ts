import { randomUUID } from 'node:crypto';
import type { MirrorClient } from './client.js';

/** Tells workers that this mirror lives, and which generations it has loaded for them before they publish these. */
export interface Presence {
  /** Remembers that nothing is left to be done for a generation before it is published. */
  note(generation: string): void;
  /** @throws the error that Redis rejects with; the next call tells the same again */
  tell(): Promise<void>;
}

export function createPresence(client: Pick<MirrorClient, 'tell'>): Presence {
  const mirror = randomUUID();
  const untold = new Set<string>();
  return {
    note: (generation) => {
      untold.add(generation);
    },
    tell: async () => {
      const told = [...untold];
      await client.tell(mirror, told);
      for (const generation of told) untold.delete(generation);
    },
  };
}
