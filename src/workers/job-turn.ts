/**
 * Ends the turn of a job after one of its steps. The work that the job did stays, and it continues in its caller's next
 * turn.
 */
export class TurnOverError extends Error {
  override readonly name = 'TurnOverError';
}

/**
 * Called by a job after each step that will not have to be repeated.
 * @throws TurnOverError when the turn is over
 */
export type AfterStep = () => void;

/** Starts a turn. A job does at least one step in each turn, so that it comes to its end however short its turns are. */
export function createJobTurn(milliseconds: number): AfterStep {
  const end = performance.now() + milliseconds;
  return () => {
    if (performance.now() >= end) throw new TurnOverError('the turn is over');
  };
}

/** A turn that is never over, for work that runs to its end at once. */
export const endless: AfterStep = () => undefined;

/** Thrown by a job that has to wait for others. It is run again after a while, and takes no job's place meanwhile. */
export class NotYetError extends Error {
  override readonly name = 'NotYetError';

  /** @param waitsFor is shown to operators */
  constructor(
    readonly milliseconds: number,
    readonly waitsFor: string,
  ) {
    super(`not for another ${String(milliseconds)} ms`);
  }
}
