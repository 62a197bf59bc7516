import { at } from '../../../shared/at.js';
import type { Block } from '../../blocks/block.js';
import { oneLine } from '../../blocks/one-line.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';
import { ReadError } from '../../read-error.js';

/** A silence that is longer ends a paragraph. */
const PAUSE_SECONDS = 2;
/** A paragraph that is longer ends with the sentence. */
const LONG_PARAGRAPH = 1_000;
/** The greatest number of lines that a cue may repeat of the cue before. */
const MAX_REPEATED_LINES = 8;

/**
 * Reads the spoken text of SubRip and WebVTT, without times and marks. Lines that a cue repeats of the one before, as
 * captions that roll up do, are written once.
 */
export function* parseSubtitles(bytes: Uint8Array, { receipt }: ReadContext): Iterable<Block> {
  receipt.setParser('subtitles', '1');
  let last: Cue | undefined;
  let waiting: { text: string; line: number } | undefined;
  let paragraph = 0;
  let count = 0;
  for (const cue of readCues(decodeText(bytes, { receipt }))) {
    count += 1;
    const said = newLines(last, cue);
    if (said.length > 0) {
      const text = joinLines(said);
      if (waiting) {
        const separator = separatorBetween(waiting.text, { last, cue, paragraph });
        yield { text: waiting.text + separator, place: { line: waiting.line } };
        paragraph = separator === '\n\n' ? 0 : paragraph + waiting.text.length;
      }
      waiting = { text, line: cue.line };
    }
    last = cue;
  }
  if (count === 0) throw new ReadError('corrupt', 'The subtitle file holds no cue with a time.');
  if (waiting) yield { text: `${waiting.text}\n`, place: { line: waiting.line } };
}

/** The lines that the cue before has not said already. */
function newLines(last: Cue | undefined, { lines }: Cue): readonly string[] {
  const before = last?.lines ?? [];
  for (let count = Math.min(before.length, lines.length, MAX_REPEATED_LINES); count > 0; count -= 1) {
    const repeated = before.slice(-count);
    if (repeated.every((line, index) => line === lines[index])) return lines.slice(count);
  }
  return lines;
}

/** A line that begins with a dash or a name is said by somebody else. */
const joinLines = (lines: readonly string[]): string =>
  lines.map((line, index) => (index === 0 ? '' : isTurn(line) ? '\n' : ' ') + line).join('');

const isTurn = (line: string): boolean => /^(?:[-–—‐]|[^\s:][^:]{0,40}: )/.test(line);

interface Between {
  readonly last: Cue | undefined;
  readonly cue: Cue;
  /** Length of the paragraph so far. */
  readonly paragraph: number;
}

function separatorBetween(text: string, { last, cue, paragraph }: Between): string {
  if (last && cue.start - last.end >= PAUSE_SECONDS) return '\n\n';
  if (paragraph > LONG_PARAGRAPH && /[.!?…。！？]["'”»)]?$/.test(text)) return '\n\n';
  return isTurn(cue.lines[0] ?? '') ? '\n' : ' ';
}

/** Text that is shown for a while. */
interface Cue {
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
function* readCues(text: string): Iterable<Cue> {
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
  if (!isAfterBlank && !/^\s*\d{1,9}\s*$/.test(at(all, index))) return false;
  const next = all[index + 1];
  return next !== undefined && TIME.test(next);
}

function secondsOf(time = ''): number {
  return time
    .replace(',', '.')
    .split(':')
    .reduce((sum, part) => sum * 60 + Number(part), 0);
}

const VOICE = /^v(?:\.[^\s<>]{0,100})?\s([^<>]+)$/;

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['lrm', ''],
  ['rlm', ''],
]);

/** Returns a function that makes text of lines with marks. It names a voice when another one begins to speak. */
function createCueText(): (line: string) => string {
  let speaker = '';
  return (line) => {
    const text = line
      .replace(/\{\\[^{}]{0,100}\}/g, '')
      .replace(/<(\/?[a-z][^<>]{0,200}|\d[\d:.]{0,20})>/gi, (_, mark: string) => {
        const name = VOICE.exec(mark)?.[1]?.trim() ?? speaker;
        if (name === speaker) return '';
        speaker = name;
        return `${name}: `;
      });
    return oneLine(withoutEntities(text));
  };
}

/** The entities of WebVTT; `&#` with a number is in files that were HTML once. */
const withoutEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,6})|([a-z]{2,5}));/g, (whole, code: string | undefined, name: string) =>
    code === undefined ? (ENTITIES.get(name) ?? whole) : String.fromCodePoint(Number(code)),
  );
