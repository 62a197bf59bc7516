/** A part of a text, by its bounds in UTF-16 units. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** Longer sentences are tables or lists without full stops. They are cut at a blank. */
const MAX_SENTENCE_LENGTH = 400;
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

const ABBREVIATION =
  /(?:^|[\s(])(?:\p{Lu}|Mr|Mrs|Ms|Dr|Prof|St|vs|etc|al|cf|fig|Fig|no|No|pp?|vol|approx|[a-z]\.[a-z]|z\.\s?B|bzw|Nr)\.$/u;

/** Tells whether a text ends with an abbreviation, whose full stop ends no sentence. */
export const endsWithAbbreviation = (text: string): boolean => ABBREVIATION.test(text);

/**
 * Returns the sentences of a text in any language (UAX #29), without the white space around them. A line also ends one when
 * a blank line or a list item follows. A row of a table is one sentence, since its cells belong together, unless it is
 * long. Parts without a letter or a digit are left out.
 */
export function sentencesOf(text: string): TextSpan[] {
  return linesTogether(text)
    .flatMap(({ start, end }) => {
      // Of the same length, since the places count; a line end within a sentence is no end of it.
      const block = text.slice(start, end).replace(/\s/gu, ' ');
      const row = rowIn(block);
      const spans = row && row.end - row.start <= MAX_SENTENCE_LENGTH ? [row] : segmentsOf(block);
      return spans.map((span) => ({ start: start + span.start, end: start + span.end }));
    })
    .flatMap((span) => cutLong(text, trimmed(text, span)))
    .filter(({ start, end }) => /[\p{L}\p{N}]/u.test(text.slice(start, end)));
}

/** Returns the cells of a row of a table, without borders and empty cells around them; undefined for other lines. */
function rowIn(block: string): TextSpan | undefined {
  if (!block.trimStart().startsWith('|')) return undefined;
  const [before = ''] = /^[ |]*/u.exec(block) ?? [];
  let end = block.length;
  while (end > before.length && ' |'.includes(block.charAt(end - 1))) end -= 1;
  return { start: before.length, end };
}

/** The longest word that may be an abbreviation, with what stands before it. */
const MAX_ABBREVIATION = 16;

/** The sentences of a text on one line, with the white space behind each. */
function segmentsOf(block: string): TextSpan[] {
  const spans: TextSpan[] = [];
  let start = 0;
  for (const { segment, index } of segmenter.segment(block)) {
    const end = withoutBracket(block, index + segment.length);
    if (end <= start) continue;
    if (
      end < block.length &&
      endsWithAbbreviation(block.slice(Math.max(start, end - MAX_ABBREVIATION), end).trimEnd())
    )
      continue;
    spans.push({ start, end });
    start = end;
  }
  return spans;
}

/** Numbers of notes, such as `[1]` or `[2,3][7]`, and the blanks behind them. */
const NOTES = /(?:\[\d{1,4}(?:[,;–-]\d{1,4}){0,9}\]){1,9} */uy;

/**
 * UAX #29 ends a sentence behind a bracket that follows its full stop, also where it opens: `It ends.[1] Next.` Numbers of
 * notes there belong to the sentence, other brackets to the next one.
 */
function withoutBracket(block: string, end: number): number {
  let before = end;
  while (before > 0 && '[({【「'.includes(block.charAt(before - 1))) before -= 1;
  if (before === end) return end;
  NOTES.lastIndex = before;
  return NOTES.test(block) ? NOTES.lastIndex : before;
}

/** A line that begins a list item, a heading or a row of a table. */
const ITEM = /^\s*(?:\||(?:[-*•#]|\d+[.)])(?:\s|$))/u;

/** Joins lines to blocks, line by line, since a pattern over the whole text would read a run of line ends again from each. */
function linesTogether(text: string): TextSpan[] {
  const blocks: { start: number; end: number }[] = [];
  let start = 0;
  let isOpen = false;
  for (const line of text.split('\n')) {
    const end = start + line.length;
    const isBlank = line.trim() === '';
    const last = blocks.at(-1);
    if (!isBlank && isOpen && last && !ITEM.test(line)) last.end = end;
    else if (!isBlank) blocks.push({ start, end });
    isOpen = !isBlank;
    start = end + 1;
  }
  return blocks;
}

function trimmed(text: string, { start, end }: TextSpan): TextSpan {
  const part = text.slice(start, end);
  const from = start + part.length - part.trimStart().length;
  return { start: from, end: Math.max(from, start + part.trimEnd().length) };
}

function cutLong(text: string, sentence: TextSpan): TextSpan[] {
  const pieces: TextSpan[] = [];
  let rest = sentence;
  while (rest.end - rest.start > MAX_SENTENCE_LENGTH) {
    const most = rest.start + MAX_SENTENCE_LENGTH;
    const blank = text.slice(rest.start, most + 1).search(/\s\S*$/u);
    const end = blank > MAX_SENTENCE_LENGTH / 2 ? rest.start + blank : wholePair(text, most);
    pieces.push(trimmed(text, { start: rest.start, end }));
    rest = trimmed(text, { start: end, end: rest.end });
  }
  return [...pieces, rest];
}

const wholePair = (text: string, end: number): number =>
  /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
