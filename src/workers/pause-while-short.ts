import type { Logger } from '../shared/observability/logger.js';
import type { MemoryWatch } from '../shared/redis/memory.js';

const LOOK_EVERY_MILLISECONDS = 500;

interface Lane {
  hold(): Promise<void>;
  goOn(): Promise<void>;
}

interface HoldOptions {
  readonly queue: string;
  readonly memory: MemoryWatch;
  readonly lanes: readonly Lane[];
  readonly logger: Logger;
  readonly onHeld: () => void;
}

/**
 * Takes no jobs as long as Redis is short of memory, and goes on by itself: jobs that could only be put off, each with
 * writes of its own, stay where they are.
 */
export function holdWhileShort({ queue, memory, lanes, logger, onHeld }: HoldOptions): { close(): void } {
  let isHeld = false;
  let isLooking = false;
  const look = async () => {
    const isShort = await memory.isShort();
    if (isShort === isHeld) return;
    isHeld = isShort;
    await Promise.all(lanes.map((lane) => (isShort ? lane.hold() : lane.goOn())));
    if (isShort) onHeld();
    const { used, share } = await memory.state();
    logger.warn({ queue, used, share }, isShort ? 'queue held: Redis is nearly full' : 'queue goes on');
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      // Redis is away: what it held, it holds; jobs look for themselves.
      .catch((error: unknown) => {
        logger.debug({ queue, err: error }, 'memory of Redis not known');
      })
      .finally(() => {
        isLooking = false;
      });
  }, LOOK_EVERY_MILLISECONDS);
  return {
    close: () => {
      clearInterval(timer);
    },
  };
}
