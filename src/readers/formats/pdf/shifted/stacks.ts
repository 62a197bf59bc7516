import type { Rectangle } from '../../../blocks/location.js';
import { bottomOf } from '../../pages/layout/piece.js';
import type { ShiftedText, TextRun } from './shifted-text.js';
import { at } from '../../../../shared/at.js';

/** The least overlap of two texts, one over the other, at the same place. */
const MIN_SHARED = 0.5;

/** Returns the texts, with stacked texts known to each other. */
export function withStacks(all: readonly ShiftedText[]): ShiftedText[] {
  const ofBase = new Map<TextRun, ShiftedText[]>();
  for (const each of all) {
    const others = ofBase.get(each.base);
    if (others) others.push(each);
    else ofBase.set(each.base, [each]);
  }
  return all.map((each) => {
    const others = ofBase.get(each.base) ?? [];
    const stacked = others.find((other) => other.shift !== each.shift && areStacked(each, other));
    return stacked ? { ...each, stacked } : each;
  });
}

export function areStacked(one: Pick<ShiftedText, 'runs'>, other: Pick<ShiftedText, 'runs'>): boolean {
  const [a, b] = [endsOf(one), endsOf(other)];
  const shared = Math.min(a.right, b.right) - Math.max(a.x, b.x);
  return shared > MIN_SHARED * Math.min(a.right - a.x, b.right - b.x);
}

/** Returns the two ends of a shifted text. */
export function endsOf({ runs }: Pick<ShiftedText, 'runs'>): { readonly x: number; readonly right: number } {
  const last = at(runs, runs.length - 1);
  return { x: at(runs, 0).x, right: last.x + last.width };
}

/** Tells whether the small letters of a text are within the height of a box. */
export const isAt = ({ y, size }: TextRun, box: Rectangle): boolean =>
  y - 0.3 * size > box.y && y - 0.3 * size < bottomOf(box);

/** A shifted text, with the one over or under it, in the order in which they are written. */
export function inWriting(shifted: ShiftedText): readonly ShiftedText[] {
  const { stacked } = shifted;
  if (!stacked) return [shifted];
  return isFirst(shifted) ? [shifted, stacked] : [stacked, shifted];
}

/**
 * Tells which of two stacked texts comes first. Behind a text it is the lowered one: `SO₄²⁻`; before a text the raised one:
 * `¹⁴₆C`.
 */
export function isFirst({ shift, base, runs }: ShiftedText): boolean {
  const isBehind = endsOf({ runs }).x > base.x;
  return isBehind === (shift === 'lowered');
}
