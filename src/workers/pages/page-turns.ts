import { createDecayedUsage, type DecayedUsage } from '../../shared/fair-scheduling/decayed-usage.js';
import { enterWithin, createTurns, type Turn } from '../../shared/fair-scheduling/turns.js';
import { MAX_PAGE_WAITS } from '../../shared/page-pictures/page-waits.js';
import { whileWanted, type Wanted } from '../while-wanted.js';

/** A page gives way after this time while another caller waits who has used less. Most pages take a tenth of it. */
const CONTESTED_MILLISECONDS = 4_000;
/** A page that found no turn for so long goes to the second place. Its request waits for 15 s. */
const PATIENCE_MILLISECONDS = 8_000;

interface PageTurnOptions {
  readonly contestedMilliseconds?: number;
  readonly patienceMilliseconds?: number;
}

export type PageTurns = ReturnType<typeof createPageTurns>;

/**
 * Makes the two places in which a worker renders pages. In the first, whoever has used least goes first, and a page that
 * takes long gives way. In the second, callers take turns and a page is left to finish, so that it waits for two pages of
 * each other caller at most, whoever has used less and however many of them come.
 */
export function createPageTurns({
  contestedMilliseconds = CONTESTED_MILLISECONDS,
  patienceMilliseconds = PATIENCE_MILLISECONDS,
}: PageTurnOptions = {}) {
  const usage = createDecayedUsage();
  const first = createTurns(1, { usage });
  return {
    contestedMilliseconds,
    enterFirst: async (by: string, wanted: Wanted): Promise<Turn | 'left' | 'crowded'> => {
      const enter = async (signal: AbortSignal) =>
        (await enterWithin(first, patienceMilliseconds, { by, signal })) ?? 'crowded';
      return (await whileWanted(wanted, enter)) ?? 'left';
    },
    enterSecond: createSecondPlace(usage),
  };
}

/**
 * Requests wait for a shorter time than others may take. So one page of a caller is drawn although its request has left while
 * it stood in line.
 */
function createSecondPlace(usage: DecayedUsage) {
  const second = createTurns(1, { maxWaiting: MAX_PAGE_WAITS, name: 'slow pages' });
  /** Callers of whom a page stays, whether its request does or not. */
  const staying = new Set<string>();
  const enter = async (by: string, signal: AbortSignal, onEnd?: () => void): Promise<Turn> => {
    const turn = await second.enter({ by, signal });
    const endUse = usage.begin(by);
    return {
      isWanted: () => false,
      end: () => {
        endUse();
        onEnd?.();
        turn.end();
      },
    };
  };
  const enterAndStay = async (by: string, signal: AbortSignal): Promise<Turn> => {
    staying.add(by);
    try {
      return await enter(by, signal, () => staying.delete(by));
    } catch (error) {
      staying.delete(by);
      throw error;
    }
  };
  /** @throws UnavailableError when too many wait */
  return async (by: string, wanted: Wanted): Promise<Turn | 'left'> => {
    if (!(await wanted.isWanted())) return 'left';
    if (!staying.has(by)) return await enterAndStay(by, wanted.signal);
    return (await whileWanted(wanted, (signal) => enter(by, signal))) ?? 'left';
  };
}
