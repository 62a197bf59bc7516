/** The share of characters that stand for nothing from which a text is garbled. */
const MOST_UNREADABLE = 0.3;

/** A page that is mostly picture and has fewer characters of text is recognized, too. */
const FEW_CHARACTERS = 200;

export type Verdict = 'empty' | 'garbled' | 'readable';

/** Tells whether a page's text can be what the page shows. */
export function judgeText(text: string): Verdict {
  if (text.trim() === '') return 'empty';
  if (!/[\0-\x08\x0e-\x1f\x7f-\x9f\ue000-\uffff]/.test(text)) return 'readable';
  const characters = text.match(/\S/gu)?.length ?? 0;
  // Replacement characters, private use, and control characters come from fonts without a map to characters.
  const unreadable = text.match(/[\ufffd\p{Co}\p{Cn}\0-\x08\x0e-\x1f\x7f-\x9f]/gu)?.length ?? 0;
  return unreadable > characters * MOST_UNREADABLE ? 'garbled' : 'readable';
}

const READABLE = /[^\s\ufffd\p{Co}\p{Cn}\p{Cc}]/u;

/** The number of characters that can be read. */
export function readableCharacters(text: string): number {
  return text.match(new RegExp(READABLE, 'gu'))?.length ?? 0;
}

/** Tells whether a text is shorter than that of pages that are text. */
export function hasFewCharacters(text: string): boolean {
  let count = 0;
  for (const character of text) {
    if (READABLE.test(character)) count += 1;
    if (count >= FEW_CHARACTERS) return false;
  }
  return true;
}
