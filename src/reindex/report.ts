const PAUSE_MILLISECONDS = 2_000;

/** Tells the terminal how it goes; what comes `often` is told now and then. */
export type Say = (line: string, options?: { often: boolean }) => void;

export function createSay(write: (text: string) => void): Say {
  let last = 0;
  return (line, { often } = { often: false }) => {
    if (often && Date.now() - last < PAUSE_MILLISECONDS) return;
    if (often) last = Date.now();
    write(`${line}\n`);
  };
}
