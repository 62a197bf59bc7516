const PAUSE_MILLISECONDS = 2_000;

/** Prints a line of progress. Lines that come `often` are printed at most every two seconds. */
export type Say = (line: string, options?: { often: boolean }) => void;

export function createSay(write: (text: string) => void): Say {
  let last = 0;
  return (line, { often } = { often: false }) => {
    if (often && Date.now() - last < PAUSE_MILLISECONDS) return;
    if (often) last = Date.now();
    write(`${line}\n`);
  };
}
