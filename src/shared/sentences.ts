/** Longer sentences are tables or lists without stops: they are cut at a blank. */
const LONGEST_SENTENCE = 400;
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Sentences of a text in any language (UAX #29), trimmed; a line end ends one too where a blank line or a list follows. */
export function splitSentences(text: string): string[] {
  return text
    .split(/\n\s*\n|\n(?=\s*(?:[-*•#|]|\d+[.)])\s)/u)
    .flatMap((block) => [...segmenter.segment(block.replace(/\s+/gu, ' '))])
    .flatMap(({ segment }) => cutLong(segment.trim()))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

function cutLong(sentence: string): string[] {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > LONGEST_SENTENCE) {
    const blank = rest.lastIndexOf(' ', LONGEST_SENTENCE);
    const end = blank > LONGEST_SENTENCE / 2 ? blank : wholePair(rest, LONGEST_SENTENCE);
    pieces.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  return [...pieces, rest];
}

function wholePair(text: string, end: number): number {
  return /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
}
