/**
 * The kinds that a scan of texts tells apart: the kind of each code point, from 1 on, which is found out when it is first
 * seen.
 */
export interface Kinds {
  readonly known: Uint8Array;
  readonly classify: (character: string) => number;
}

/** Pages of the table that no text needs take no memory. */
export const createKinds = (classify: Kinds['classify']): Kinds => ({
  known: new Uint8Array(0x110000),
  classify,
});

/** The kind of the character at a position of a text. */
export function kindOf({ known, classify }: Kinds, text: string, position: number): number {
  const unit = text.charCodeAt(position);
  const codePoint = unit >= 0xd800 && unit < 0xdc00 ? (text.codePointAt(position) ?? unit) : unit;
  const kind = known[codePoint];
  if (kind !== 0) return kind;
  const found = classify(String.fromCodePoint(codePoint));
  known[codePoint] = found;
  return found;
}

/** Returns the number of UTF-16 units of the character at a position of a text. */
export function widthAt(text: string, position: number): number {
  const unit = text.charCodeAt(position);
  if (unit < 0xd800 || unit >= 0xdc00) return 1;
  const next = text.charCodeAt(position + 1);
  return next >= 0xdc00 && next < 0xe000 ? 2 : 1;
}
