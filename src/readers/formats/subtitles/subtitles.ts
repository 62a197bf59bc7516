import { ReadError } from '../../read-error.js';
import type { Block } from '../../blocks/block.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';
import { readCues, type Cue } from './cues.js';

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
