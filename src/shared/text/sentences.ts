/** Longer sentences are tables or lists without full stops. They are cut at a blank. */
const MAX_SENTENCE_LENGTH = 400;
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * Splits a text in any language into sentences (UAX #29), trimmed. A line also ends
 * one when a blank line or a list item follows.
 */
export function splitSentences(text: string): string[] {
  return splitBlocks(text)
    .flatMap((block) => [...segmenter.segment(block.replace(/\s+/gu, ' '))])
    .flatMap(({ segment }) => cutLong(segment.trim()))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

/** A line that begins a list item, a heading or a row of a table. */
const ITEM = /^\s*(?:[-*•#|]|\d+[.)])(?:\s|$)/u;

/** Splits line by line, since a pattern over the whole text would read a run of line ends again from each of them. */
function splitBlocks(text: string): string[] {
  const blocks: string[][] = [[]];
  for (const line of text.split('\n')) {
    const isBlank = line.trim() === '';
    if (isBlank || ITEM.test(line)) blocks.push([]);
    if (!isBlank) blocks.at(-1)?.push(line);
  }
  return blocks.map((lines) => lines.join('\n'));
}

function cutLong(sentence: string): string[] {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > MAX_SENTENCE_LENGTH) {
    const blank = rest.lastIndexOf(' ', MAX_SENTENCE_LENGTH);
    const end = blank > MAX_SENTENCE_LENGTH / 2 ? blank : wholePair(rest, MAX_SENTENCE_LENGTH);
    pieces.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  return [...pieces, rest];
}

function wholePair(text: string, end: number): number {
  return /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
}
