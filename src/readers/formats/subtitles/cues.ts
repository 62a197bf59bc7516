import { createCueText } from './cue-text.js';

/** Text that is shown for a while. */
export interface Cue {
  /** Seconds from the beginning. */
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
  /** The number of its first line of text in the file. */
  readonly line: number;
}

const TIME =
  /^\s*((?:\d{1,5}:)?\d{1,2}:\d{1,2}[,.]\d{1,3})\s*-->\s*((?:\d{1,5}:)?\d{1,2}:\d{1,2}[,.]\d{1,3})(?!\d)/;
/** Beginnings of the blocks that WebVTT has beside cues. Each lasts until an empty line. */
const ASIDE = /^(?:WEBVTT|NOTE|STYLE|REGION)(?![^\s])/;

/** Reads the cues of SubRip or WebVTT. Blocks without a time are passed over. */
export function* readCues(text: string): Iterable<Cue> {
  const clean = createCueText();
  let current: { start: number; end: number; lines: string[]; line: number } | undefined;
  let isAside = false;
  let isAfterBlank = true;
  const all = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  for (const [index, line] of all.entries()) {
    const time = TIME.exec(line);
    if (time) {
      if (current) yield current;
      current = { start: secondsOf(time[1]), end: secondsOf(time[2]), lines: [], line: index + 2 };
      isAside = false;
    } else if (line.trim() === '') isAside = false;
    else if (isAfterBlank && ASIDE.test(line)) isAside = true;
    else if (current && !isAside && !isName(all, index, isAfterBlank)) {
      const said = clean(line);
      if (said !== '') current.lines.push(said);
    }
    isAfterBlank = line.trim() === '';
  }
  if (current) yield current;
}

/** Tells whether a line names or numbers the cue whose time is in the next line. */
function isName(all: readonly string[], index: number, isAfterBlank: boolean): boolean {
  if (!isAfterBlank && !/^\s*\d{1,9}\s*$/.test(all[index] ?? '')) return false;
  return TIME.test(all[index + 1] ?? '');
}

function secondsOf(time = ''): number {
  return time
    .replace(',', '.')
    .split(':')
    .reduce((sum, part) => sum * 60 + Number(part), 0);
}
