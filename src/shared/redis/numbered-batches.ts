import { randomUUID } from 'node:crypto';

/** Batches of one process, which Redis takes once each. */
export interface NumberedBatches<Batch> {
  /** Sends the batch whose reply was lost, or else the next one. Resolves with it; with null where there is none. */
  send(
    next: () => Batch | null,
    take: (batch: Batch, place: { readonly key: string; readonly number: string }) => Promise<void>,
  ): Promise<Batch | null>;
}

/**
 * Numbers the batches of a process. One whose reply was lost is sent again unchanged, and its script knows it by its number
 * (`BATCHES`). One batch is sent at a time.
 *
 * @param keyOf the key that holds the number of the last batch of a process
 */
export function createNumberedBatches<Batch>(keyOf: (process: string) => string): NumberedBatches<Batch> {
  const key = keyOf(randomUUID());
  let last = 0;
  let unsent: Batch | null = null;
  return {
    send: async (next, take) => {
      if (unsent === null) {
        unsent = next();
        if (unsent === null) return null;
        last += 1;
      }
      const batch = unsent;
      await take(batch, { key, number: String(last) });
      unsent = null;
      return batch;
    },
  };
}

/** The number is forgotten a day after the last batch, when its process is long gone. */
const KEPT_SECONDS = 86_400;

/**
 * Lua functions. `answer_to_batch` returns the text that the script answered to a batch that it has taken before, and nil for
 * a new one, which it notes with `note_batch`. A batch that is older than the last one was taken, too, and nobody waits for it.
 */
export const BATCHES = `
local function answer_to_batch(key, number)
  local last, answer = string.match(redis.call('GET', key) or '', '^(%d+):(.*)$')
  if not last or tonumber(last) < tonumber(number) then return nil end
  return last == number and answer or ''
end
local function note_batch(key, number, answer)
  redis.call('SET', key, number .. ':' .. answer, 'EX', ${String(KEPT_SECONDS)})
end
`;
