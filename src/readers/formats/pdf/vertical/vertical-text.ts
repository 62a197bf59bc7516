import { at } from '../../../../shared/at.js';
import { inflatedStreams } from '../judging/streams.js';

/** Names of vertical encodings end so: `/Identity-V`, `/90ms-RKSJ-V`, `/UniJIS-UTF16-V`, and `/V` itself. */
const VERTICAL = /\/(?:[\w-]{1,40}-)?V[\s/>\]]|\/WMode 1\b/;
const MAX_PLACES = 10_000;

/** The characters that are joined: as `EAST_ASIAN` of columns, but for `・` and `ー`. */
const JOINED =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u3001-\\u303f\\ufe10-\\ufe1f\\ufe30-\\ufe4f\\uff01-\\uff60]';
/** This many characters, of which this share of pairs does not follow each other, are a text in another order. */
const MIN_CHARACTERS = 10;
const MAX_SCATTERED = 0.4;

/** Tells whether a file may have fonts whose text runs from top to bottom. */
export function mayHoldVerticalText(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const sign of ['-V', '/Encoding/V', '/Encoding /V', '/WMode 1'])
    if (isVerticalAt(file, sign)) return true;
  for (const objects of inflatedStreams(bytes, 'objects'))
    if (
      objects !== 'too large' &&
      /\/Encoding ?\/(?:[\w-]{1,40}-)?V[\s/>\]]|\/WMode 1\b/.test(objects.toString('latin1'))
    )
      return true;
  return false;
}

function isVerticalAt(file: Buffer, sign: string): boolean {
  let at = file.indexOf(sign);
  for (let places = 0; at >= 0 && places < MAX_PLACES; places += 1) {
    if (VERTICAL.test(file.toString('latin1', Math.max(0, at - 40), at + sign.length + 1))) return true;
    at = file.indexOf(sign, at + sign.length);
  }
  return false;
}

/**
 * Tells whether `text` lacks or scatters the East Asian text that `other` has in its order, as PDFium does where columns of
 * vertical text stand close together.
 */
export function isScattered(text: string, other: string): boolean {
  const [known, expected] = [pairsOf(text), pairsOf(other)];
  if (expected.size < MIN_CHARACTERS) return false;
  let missing = 0;
  for (const pair of expected) if (!known.has(pair)) missing += 1;
  return missing > expected.size * MAX_SCATTERED;
}

function pairsOf(text: string): Set<string> {
  const characters = [
    ...text.normalize('NFKC').replace(/[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu, ''),
  ];
  return new Set(characters.slice(1).map((character, index) => `${at(characters, index)}${character}`));
}

/** Joins columns whose characters are given as lines of their own. */
export function joinColumns(text: string): string {
  const single = `${JOINED}{1,3}[ \\t]{0,9}`;
  return text
    .replace(new RegExp(`(?<=${JOINED})[ \\t]{1,9}(?=${JOINED})`, 'gu'), '')
    .replace(new RegExp(`(?<=^${single})\\n(?=${single}$)`, 'gmu'), '');
}
