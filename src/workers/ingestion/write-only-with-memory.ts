import type { Chunks } from '../../shared/chunks/chunks.js';
import { UnavailableError } from '../../shared/errors.js';
import type { MemoryWatch } from '../../shared/redis/memory.js';

const RETRY_SECONDS = 5;

/** @throws UnavailableError while Redis is short of memory; the job is then delayed */
export async function requireMemory(memory: MemoryWatch): Promise<void> {
  if (await memory.isShort())
    throw new UnavailableError('room in Redis', { retryAfterSeconds: RETRY_SECONDS });
}

/** Wraps chunks so that they are written, or get new tags, only while Redis has memory. */
export function writeOnlyWithMemory(chunks: Chunks, memory: MemoryWatch): Chunks {
  const guarded =
    <Args extends readonly unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await requireMemory(memory);
      return write(...args);
    };
  return {
    ...chunks,
    writeTexts: guarded(chunks.writeTexts),
    writeTags: guarded(chunks.writeTags),
    writeEmbedded: guarded(chunks.writeEmbedded),
  };
}
