/** Thrown after a step when a job has taken long enough: what it did stays, and it goes on in its caller's next turn. */
export class TurnOverError extends Error {
  override readonly name = 'TurnOverError';
}

/** Called after each step that need not be done again; ends the turn by throwing. */
export type AfterStep = () => void;

/** Each turn does one step at least, so that a job comes to its end however short its turns are. */
export function createTurn(milliseconds: number): AfterStep {
  const end = performance.now() + milliseconds;
  return () => {
    if (performance.now() >= end) throw new TurnOverError('the turn is over');
  };
}

/** For what goes on to its end. */
export const endless: AfterStep = () => undefined;
