const SLICE_MILLISECONDS = 4;

/** When the first slice of this turn of the event loop began; null while there was none. */
let began: number | null = null;
/** Loops that wait for a turn, in the order in which they get one. The first has the present turn while there are any. */
const waiting: (() => void)[] = [];

/**
 * A loop waits for this before each of its steps: when the loops of this process have taken some milliseconds of a turn of the
 * event loop, they go on in later turns, one loop in each. With `setImmediate` alone all of them would go on in the next
 * turn, so that a hundred loops would hold others up a hundred times as long as one.
 */
export async function nextSlice(): Promise<void> {
  if (began === null) {
    began = performance.now();
    setImmediate(() => {
      began = null;
    });
  }
  if (performance.now() - began > SLICE_MILLISECONDS) await nextOwnTurn();
}

/** Resolves in a later turn of the event loop, in which no other loop that waits here goes on. */
export function nextOwnTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  began = performance.now();
  waiting[0]?.();
  setImmediate(() => {
    began = null;
    waiting.shift();
    if (waiting.length > 0) setImmediate(goOn);
  });
}
