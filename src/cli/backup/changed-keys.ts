import type { Client } from './connect.js';

export interface ChangedKeys {
  /** Answers all keys that were written before this call and after the last, and forgets them. */
  take(): Promise<Set<string>>;
}

/** Follows the keys that anybody writes. @param client a client that tells of changes, which is used for nothing else */
export function followChanges(client: Client): ChangedKeys {
  let changed = new Set<string>();
  let isEmptied = false;
  client.on('invalidate', (key: Buffer | string | null) => {
    if (key === null) isEmptied = true;
    else changed.add(key.toString());
  });
  return {
    take: async () => {
      // Redis tells of a change at the end of a turn. The reply to the second question comes after that turn.
      await client.ping();
      await client.ping();
      if (isEmptied) throw new Error('Redis was emptied during the backup.');
      const taken = changed;
      changed = new Set();
      return taken;
    },
  };
}
