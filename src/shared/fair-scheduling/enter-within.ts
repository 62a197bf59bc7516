import { createDeadline } from '../tools/deadline.js';
import type { Turn, TurnRequest, Turns } from './turns.js';

/** Waits for a turn for so long at most. Null when none came in time. */
export async function enterWithin(
  turns: Pick<Turns, 'enter'>,
  milliseconds: number,
  request: TurnRequest,
): Promise<Turn | null> {
  const deadline = createDeadline(milliseconds, request.signal);
  try {
    return await turns.enter({ ...request, signal: deadline.signal });
  } catch (error) {
    if (!deadline.isOver) throw error;
    return null;
  } finally {
    deadline.clear();
  }
}
