import type { Logger } from '../shared/observability/logger.js';
import type { MemoryWatch } from '../shared/redis/memory.js';
import { lookRegularly } from '../shared/tools/repeat.js';

const LOOK_EVERY_MILLISECONDS = 500;

interface Lane {
  pause(): Promise<void>;
  resume(): Promise<void>;
}

interface PauseOptions {
  readonly queue: string;
  readonly memory: MemoryWatch;
  readonly lanes: readonly Lane[];
  readonly logger: Logger;
  readonly onPaused: () => void;
}

/**
 * Pauses lanes while Redis is short of memory, and resumes them afterwards. Their jobs could only be delayed, each with
 * writes to Redis, so they stay in the queue instead.
 */
export function pauseWhileShort({ queue, memory, lanes, logger, onPaused }: PauseOptions): { close(): void } {
  let isPaused = false;
  const look = async () => {
    const shortage = await memory.shortage();
    const isShort = shortage !== null;
    if (isShort === isPaused) return;
    isPaused = isShort;
    await Promise.all(lanes.map((lane) => (isShort ? lane.pause() : lane.resume())));
    if (isShort) onPaused();
    const { used, share } = await memory.state();
    const full = shortage === 'disk' ? 'the disk of Redis is nearly full' : 'Redis is nearly full';
    logger.warn({ queue, used, share }, isShort ? `queue held: ${full}` : 'queue goes on');
  };
  return lookRegularly(LOOK_EVERY_MILLISECONDS, look, (error) => {
    // While Redis is away nothing changes; each job checks the memory itself as well.
    logger.debug({ queue, err: error }, 'memory of redis is unknown');
  });
}
