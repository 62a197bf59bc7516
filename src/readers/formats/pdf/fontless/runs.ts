import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import { around, holds } from '../../pages/layout/piece.js';
import { itemKey } from '../../pages/native-pieces.js';
import type { DrawnCharacter } from './drawn-characters.js';

/** Characters of one line differ by less in height, in sizes of their font. */
const SAME_LINE = 0.3;
/** The widest gap within a text, and the widest that is no space, in sizes of its font. */
const [MAX_GAP, MAX_CLOSED] = [0.5, 0.15];
/** The same character this near, in sizes of its font, is the same one, drawn again to make it bold. */
const SAME_PLACE = 0.2;

/** A character by its place on its line, in points. */
interface Placed {
  readonly character: DrawnCharacter;
  /** The place of its middle across the line. */
  readonly height: number;
  readonly from: number;
  readonly to: number;
}

/** The texts of characters that stand side by side. Characters of vertical lines, and of slanting ones, are texts by themselves. */
export function textsOf(characters: readonly DrawnCharacter[]): TextItem[] {
  const placed = characters.map(place).toSorted(byPlace);
  const texts: Placed[][] = [];
  for (const each of linesOf(placed).flatMap((line) => line.toSorted((a, b) => a.from - b.from))) {
    const text = texts.at(-1);
    const last = text?.at(-1);
    if (last && isAgain(last, each)) continue;
    if (text && last && goesOn(last, each)) text.push(each);
    else texts.push([each]);
  }
  return texts.flatMap(itemOf);
}

function place(character: DrawnCharacter): Placed {
  const { box, rotation } = character;
  const angle = (rotation * Math.PI) / 180;
  const [across, down] = [Math.cos(angle), Math.sin(angle)];
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const middle = x * across + y * down;
  const half = (Math.abs(across) * box.width + Math.abs(down) * box.height) / 2;
  return { character, height: y * across - x * down, from: middle - half, to: middle + half };
}

function byPlace(one: Placed, other: Placed): number {
  return one.character.rotation - other.character.rotation || one.height - other.height;
}

/** @param placed in the order of their heights */
function linesOf(placed: readonly Placed[]): Placed[][] {
  const lines: Placed[][] = [];
  for (const each of placed) {
    const first = lines.at(-1)?.[0];
    const isSame =
      first?.character.rotation === each.character.rotation &&
      each.height - first.height < SAME_LINE * each.character.size;
    if (isSame) lines.at(-1)?.push(each);
    else lines.push([each]);
  }
  return lines;
}

const isAgain = (last: Placed, next: Placed): boolean =>
  last.character.text === next.character.text &&
  Math.abs(next.from - last.from) < SAME_PLACE * next.character.size &&
  Math.abs(next.height - last.height) < SAME_PLACE * next.character.size;

function goesOn(last: Placed, next: Placed): boolean {
  const { character: before } = last;
  const { character } = next;
  const isLevel = !character.isVertical && !before.isVertical && character.rotation % 90 === 0;
  const isAlike =
    character.font === before.font &&
    character.fillColor === before.fillColor &&
    character.rotation === before.rotation &&
    Math.abs(character.size - before.size) < 0.01 * character.size;
  const gap = (next.from - last.to) / character.size;
  const isNear = Math.abs(next.height - last.height) < SAME_LINE * character.size;
  return isLevel && isAlike && isNear && gap > -MAX_GAP && gap < MAX_GAP;
}

function itemOf(placed: readonly Placed[]): TextItem[] {
  const [first] = placed;
  if (!first) return [];
  const { size, rotation, font, fillColor } = first.character;
  const text = placed
    .map(({ character, from }, at) => {
      const gap = from - (placed[at - 1]?.to ?? from);
      return gap > MAX_CLOSED * size ? ` ${character.text}` : character.text;
    })
    .join('');
  const box = around(placed.map(({ character }) => character.box));
  const color = fillColor === undefined ? {} : { fillColor };
  return [{ ...box, ...color, text, rotation, fontHeight: size, fontName: font }];
}

/** The page with its texts parted where others stand between their words. */
export function parted(
  page: ParsedPage,
  others: readonly TextItem[],
  words: readonly TextItem[],
): ParsedPage {
  const within = new Map(words.map((item) => [itemKey(item), item.words ?? []]));
  const textItems = page.textItems.flatMap((item): TextItem[] => {
    const own = within.get(itemKey(item)) ?? [];
    const between = others.filter((other) => holds(item, other)).toSorted((a, b) => a.x - b.x);
    if (between.length === 0 || own.length < 2 || (item.rotation ?? 0) !== 0) return [item];
    const ends = [...between.map(({ x }) => x), Infinity];
    return ends.flatMap((end, at) => {
      const from = ends[at - 1] ?? -Infinity;
      const part = own.filter(({ x, width }) => x + width / 2 >= from && x + width / 2 < end);
      if (part.length === 0) return [];
      return [{ ...item, ...around(part), text: part.map(({ text }) => text).join(' ') }];
    });
  });
  return { ...page, textItems };
}
