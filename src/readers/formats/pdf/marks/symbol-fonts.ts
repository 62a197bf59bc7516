import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import type { Rectangle } from '../../../blocks/location.js';
import type { ReceiptWriter } from '../../../receipt/receipt-writer.js';
import { decodeAs } from '../../../encoding/decode-as.js';
import { bottomOf, rightOf } from '../../pages/layout/piece.js';
import type { Turn } from '../../pages/pdfium.js';
import { createSignReader, signsOf, type SignReader } from '../../signs/sign-reader.js';
import { mayName, type ObjectName } from '../judging/names.js';
import type { createPageObjects } from '../judging/page-objects.js';
import type { PageSign } from './page-signs.js';
import { withPrivateSigns } from './private-signs.js';
import type { SecondReader } from '../pdfjs/second-reader.js';
import { withItems, withTexts } from '../with-items.js';
import { charactersOf, type WorkBudget } from '../work-budgets.js';
import { at } from '../../../../shared/at.js';

/** Fonts whose characters PDFium does not translate; it knows the standard ones, which are not embedded. */
const NAMES: readonly ObjectName[] = [
  'Wingdings',
  'Webdings',
  'SymbolMT',
  'SymbolNeu',
  '+Symbol',
  '+ZapfDingbats',
  '+MonotypeSorts',
  'Marlett',
];
const NONE: ReadonlySet<number> = new Set();
const MAX_SIGNS = 2_000;
const CUT = `The page has more than ${MAX_SIGNS.toLocaleString('en')} texts in symbol fonts; the others may be read as letters.`;
/** The number of characters around its expected place in which a sign is sought. */
const AROUND = 4;

export interface SignFinder {
  /** The pages with the signs of symbol fonts in place of the characters that PDFium gives for them. */
  find(pages: readonly ParsedPage[], turns: ReadonlyMap<number, Turn>): Promise<readonly ParsedPage[]>;
  /** Reports how many signs were left out, since nobody knows their meaning. */
  report(): void;
}

interface Source {
  readonly bytes: Uint8Array;
  readonly second: Pick<SecondReader, 'signs' | 'object'>;
  readonly objects: Pick<ReturnType<typeof createPageObjects>, 'mayUse'>;
  readonly receipt: ReceiptWriter;
  readonly budget: WorkBudget;
}

/**
 * PDFium gives the characters of symbol fonts by their codes, or none, and joins them with the characters around, so that
 * their font is lost. The second reader knows which font each of them is in, but is slow: beyond some work, and on pages
 * that are turned, only signs at the beginning of a text are read.
 */
export function createSignFinder({ bytes, second, objects, receipt, budget }: Source): SignFinder {
  const signs = createSignReader(receipt);
  const isNamed = mayName(bytes, NAMES);
  const mayHoldSigns = async ({ pageNum, textItems }: ParsedPage): Promise<boolean> =>
    textItems.some(isInSymbolFont) ||
    (isNamed && objects.mayUse(await second.object(pageNum), { objects: NONE, names: NAMES }));
  const askFor = async (page: ParsedPage): Promise<readonly PageSign[] | undefined> => {
    if (budget.isSpent()) {
      budget.miss(page.pageNum);
      return undefined;
    }
    budget.spend(charactersOf(page));
    return await budget.during(() => second.signs(page.pageNum));
  };
  const readPage = async (page: ParsedPage, isTurned: boolean): Promise<ParsedPage> => {
    if (!(await mayHoldSigns(page))) return page;
    const found = isTurned ? undefined : await askFor(page);
    if (!found) return withTexts(page, firstSigns(page.textItems, signs));
    if (found.length > MAX_SIGNS)
      receipt.addGap('limit', CUT, { pages: { first: page.pageNum, last: page.pageNum } });
    return withSigns(page, found.slice(0, MAX_SIGNS), signs);
  };
  return {
    async find(pages, turns) {
      const read: ParsedPage[] = [];
      for (const page of pages)
        read.push(withPrivateSigns(await readPage(page, turns.has(page.pageNum)), signs));
      return read;
    },
    report: () => signs.report(),
  };
}

const isInSymbolFont = ({ fontName }: TextItem): boolean => signsOf(fontName) !== undefined;

/**
 * Returns texts that begin in a symbol font. Their codes are the codes of the characters in the font, and a zero where
 * other characters begin.
 */
function firstSigns(items: readonly TextItem[], signs: SignReader): Map<TextItem, string> {
  const texts = new Map<TextItem, string>();
  for (const item of items.filter(isInSymbolFont)) {
    const codes = item.charCodes ?? [];
    const end = codes.indexOf(0);
    const own = end === -1 ? codes : codes.slice(0, end);
    const shown = signs.read(String.fromCharCode(...own.slice(0, 1_000)), item.fontName);
    texts.set(item, `${shown}${item.text.slice(own.length)}`);
  }
  return texts;
}

function withSigns(page: ParsedPage, found: readonly PageSign[], signs: SignReader): ParsedPage {
  const lines = new Map<TextItem, Line>();
  const added: TextItem[] = [];
  for (const sign of found.flatMap(singly)) {
    const item = page.textItems.find((each) => holdsSign(each, sign.box));
    if (item) {
      const line = lines.get(item) ?? { item, cells: [...item.text], taken: new Set() };
      lines.set(item, line);
      putSign(line, sign, signs);
    } else {
      const text = shownAs(codesOf(sign)[0], sign, signs);
      if (text !== '') added.push({ text, ...sign.box, fontHeight: sign.box.height, rotation: 0 });
    }
  }
  const texts = new Map([...lines].map(([item, { cells }]) => [item, cells.join('')]));
  return withItems(withTexts(page, texts), added);
}

/** A text with signs in it: its characters, to some of which signs are added, and the places of the signs. */
interface Line {
  readonly item: TextItem;
  readonly cells: string[];
  readonly taken: Set<number>;
}

/** The characters of a text one by one, each as wide as the others. */
function singly({ text, font, box }: PageSign): PageSign[] {
  const characters = [...text];
  const width = box.width / characters.length;
  return characters.flatMap((character, index) =>
    character.trim() === ''
      ? []
      : [{ text: character, font, box: { ...box, x: box.x + index * width, width } }],
  );
}

function holdsSign(item: TextItem, box: Rectangle): boolean {
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  return x >= item.x - 1 && x <= rightOf(item) + 1 && y >= item.y && y <= bottomOf(item);
}

/** Puts a sign where its character is, or where it should be if PDFium has left it out. */
function putSign({ item, cells, taken }: Line, sign: PageSign, signs: SignReader): void {
  const codes = codesOf(sign);
  const share = (sign.box.x - item.x) / Math.max(item.width, 0.1);
  const expected = Math.round(Math.min(Math.max(share, 0), 1) * cells.length);
  for (const place of placesAround(expected, cells.length)) {
    const character = at(cells, place);
    const code = codes.find((each) => formsOf(each, sign.font).has(character));
    if (taken.has(place) || (code === undefined && character !== sign.text)) continue;
    const told = item.charCodes?.[place];
    cells[place] = shownAs(told !== undefined && codes.includes(told) ? told : code, sign, signs);
    taken.add(place);
    return;
  }
  const space = placesAround(expected, cells.length).find((each) => cells[each] === ' ');
  const place = space ?? expected - 1;
  const shown = shownAs(codes[0], sign, signs);
  if (place < 0) cells.unshift(shown);
  else cells[place] = at(cells, place) + shown;
}

/** The places of a text that are near to one, the nearest first. */
const placesAround = (place: number, length: number): number[] =>
  Array.from(
    { length: 2 * AROUND + 1 },
    (_, index) => place + (index % 2 === 0 ? index / 2 : -(index + 1) / 2),
  ).filter((at) => at >= 0 && at < length);

const shownAs = (code: number | undefined, { text, font }: PageSign, signs: SignReader): string =>
  signs.read(code === undefined ? text : String.fromCharCode(0xf000 + code), font);

/**
 * Returns the codes that a character may have in its font, the likeliest first. Without a map, the readers take codes for
 * characters of an encoding: of Windows, of the Macintosh, or Adobe's.
 */
function codesOf({ text, font }: PageSign): number[] {
  const own = text.charCodeAt(0);
  if (own >= 0xf000 && own <= 0xf0ff) return [own - 0xf000];
  const codes = Array.from({ length: 0xe0 }, (_, index) => 0x20 + index);
  const isSign = codes.filter((code) => signsOf(font)?.get(code) === text && text > '\xff');
  if (isSign.length > 0) return isSign;
  return codes.filter((code) => formsOf(code, font).has(text)).toSorted((one) => (one === own ? -1 : 0));
}

/** Adobe's standard encoding from A0 on (ISO 32000-1, annex D.2); dots where it has nothing. */
const STANDARD =
  ".¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ.–†‡·.¶•‚„”»…‰.¿.`´ˆ˜¯˘˙¨.˚¸.˝˛ˇ—................Æ.ª....ŁØŒº.....æ...ı..łøœß....";
/** The Macintosh has the euro sign at this code, PDF the currency sign that was there before (ISO 32000-1, annex D.2). */
const MAC_CURRENCY = 0xdb;
const forms = new Map<string, ReadonlySet<string>>();

/** Returns the characters that the readers may give for a code of a symbol font. */
function formsOf(code: number, font: string): ReadonlySet<string> {
  const sign = signsOf(font)?.get(code) ?? '';
  const key = `${String(code)} ${sign}`;
  const known = forms.get(key);
  if (known) return known;
  const encoded = ['windows-1252', 'macintosh'].map((name) => decodeAs(Uint8Array.of(code), name));
  const found = new Set([
    sign,
    String.fromCharCode(code),
    String.fromCharCode(0xf000 + code),
    STANDARD.charAt(code - 0xa0),
    code === MAC_CURRENCY ? '¤' : '',
    ...encoded,
  ]);
  for (const nothing of ['', '.', '\ufffd']) if (nothing !== '.' || code !== 0x2e) found.delete(nothing);
  forms.set(key, found);
  return found;
}
