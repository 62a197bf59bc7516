import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import type { Rectangle } from '../../blocks/location.js';
import { bottomOf, rightOf, type Piece } from './layout/piece.js';
import { WIDE } from './layout/unspaced-lines.js';
import type { Turn } from './pdfium.js';
import { addTo, sumOf } from '../../../shared/at.js';

const WIDE_OR_BLANK = `(?:${WIDE}|[\\u3000…])`;
const BETWEEN_WIDE = new RegExp(`(?<=${WIDE_OR_BLANK}) (?=${WIDE_OR_BLANK})`, 'gu');

/** The texts of a page as pieces for its layout. */
export function toPieces(items: readonly TextItem[]): Piece[] {
  const pieces: Piece[] = [];
  for (const item of items) {
    const text = tidyText(item.text);
    if (text === '') continue;
    const { x, y, width, height, rotation = 0 } = item;
    const isTurned = Math.abs(rotation) % 360 > 10;
    pieces.push({ text, x, y, width, height, size: sizeOf(item), isBold: isBold(item), isTurned });
  }
  return pieces;
}

function tidyText(text: string): string {
  const trimmed = text.trim();
  const spaced = /\s\s|[^\S ]/.test(trimmed) ? trimmed.replace(/\s+/g, ' ') : trimmed;
  return /[\u3000-\uff60]/.test(spaced) ? spaced.replace(BETWEEN_WIDE, '') : spaced;
}

/** The size of the text as it is shown, in points. */
export function sizeOf({ fontHeight, height, width, rotation = 0 }: TextItem): number {
  const across = isTurned(rotation) ? width : height;
  return Math.max(0.1, fontHeight ?? across * 0.85);
}

/** Texts of the same page that was read twice are the same at the same place. */
export const itemKey = ({ text, x, y }: TextItem): string => `${String(x)} ${String(y)} ${text}`;

/** Tells whether the text is bold. */
export function isBold({ fontName = '', fontWeight = 0 }: TextItem): boolean {
  return fontWeight >= 600 || /bold|black|heavy/i.test(fontName);
}

const isTurned = (rotation: number): boolean => Math.round(rotation / 90) % 2 === 1;

/** Returns the turn by which a page whose text mostly appears turned has to be read; undefined for an upright one. */
export function turnOf({ pageNum, textItems }: ParsedPage): Turn | undefined {
  const letters = new Map<number, number>();
  let all = 0;
  for (const { text, rotation = 0 } of textItems) {
    const angle = (Math.round(rotation / 90) * 90 + 360) % 360;
    addTo(letters, angle, text.length);
    all += text.length;
  }
  for (const angle of [90, 180, 270] as const)
    if (sumOf(letters, angle) * 2 > all) return { page: pageNum, angle };
  return undefined;
}

/** Places a rectangle of a page that was set upright on the page as it is shown. */
export function turnBack(
  box: Rectangle,
  { angle }: Pick<Turn, 'angle'>,
  upright: { width: number; height: number },
): Rectangle {
  const { x, y, width, height } = box;
  switch (angle) {
    case 90:
      return { x: upright.height - bottomOf(box), y: x, width: height, height: width };
    case 180:
      return { x: upright.width - rightOf(box), y: upright.height - bottomOf(box), width, height };
    case 270:
      return { x: y, y: upright.width - rightOf(box), width: height, height: width };
  }
}
