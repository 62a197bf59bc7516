import type { Logger } from '../shared/observability/logger.js';
import { repeat } from '../shared/tools/repeat.js';
import type { StateFiles } from './engine/chat/saved-states.js';

const EVERY_MILLISECONDS = 3_600_000;
const DAY_MILLISECONDS = 86_400_000;

interface Expiry {
  /** Days; 0: none is removed for its age. */
  readonly idleDays: number;
  readonly logger: Logger;
}

/**
 * Removes states that nobody has used for so long, at once and every hour from then on. A later request for one has it read
 * again. States whose installation is gone are removed, too.
 * @returns a function that ends this
 */
export function expireStates(states: StateFiles, { idleDays, logger }: Expiry): () => void {
  if (idleDays === 0) return () => undefined;
  const expire = async () => {
    const oldest = Date.now() - idleDays * DAY_MILLISECONDS;
    const idle = (await states.list()).filter(({ usedAt }) => usedAt < oldest);
    for (const { id } of idle) await states.remove(id);
    if (idle.length > 0) logger.info({ states: idle.length }, 'unused states removed');
  };
  const onError = (error: unknown) => logger.warn({ err: error }, 'unused states not removed');
  expire().catch(onError);
  return repeat(expire, { everyMilliseconds: EVERY_MILLISECONDS, onError });
}
