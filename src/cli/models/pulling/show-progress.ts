import { inMegabytes } from '../megabytes.js';

/** The output that shows a progress: a terminal, or anything else that takes lines. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface ShownProgress {
  readonly show: (done: number, total: number) => void;
  /** Ends the line of the bar. */
  readonly end: () => void;
}

const BAR_MS = 100;
const LINE_MS = 10_000;
const BAR_CELLS = 24;

/** Shows how far a download is: a bar that moves in a terminal, else a line now and then. */
export function showProgress(
  output: ProgressOutput,
  now: () => number = () => performance.now(),
): ShownProgress {
  const pauseMs = output.isTTY === true ? BAR_MS : LINE_MS;
  let first: { at: number; done: number } | null = null;
  let shownAt = -Infinity;
  let isOpen = false;
  return {
    show: (done, total) => {
      const at = now();
      first ??= { at, done };
      if (at - shownAt < pauseMs && done < total) return;
      shownAt = at;
      const speed = at > first.at ? ((done - first.done) * 1_000) / (at - first.at) : 0;
      const text = describe(done, total, speed);
      if (output.isTTY !== true) {
        output.write(`${text}\n`);
        return;
      }
      isOpen = true;
      output.write(`\r${`${bar(done / total)} ${text}`.slice(0, (output.columns ?? 80) - 1)}\u001b[K`);
    },
    end: () => {
      if (isOpen) output.write('\n');
      isOpen = false;
    },
  };
}

function bar(share: number): string {
  const full = Math.floor(share * BAR_CELLS);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_CELLS - full)}]`;
}

/** `42 %, 15.6 of 37.1 MB, 3.1 MB/s, 7 s left` */
function describe(done: number, total: number, bytesPerSecond: number): string {
  const percent = `${String(Math.floor((100 * done) / total))} %`;
  const parts = [percent, `${inMegabytes(done)} of ${inMegabytes(total)} MB`];
  if (bytesPerSecond === 0) return parts.join(', ');
  const left = Math.ceil((total - done) / bytesPerSecond);
  return [...parts, `${inMegabytes(bytesPerSecond)} MB/s`, `${String(left)} s left`].join(', ');
}
