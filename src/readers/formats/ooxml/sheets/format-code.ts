import type { Color } from '../../visibility/colors.js';
import { formatColor } from './colors.js';
import { formatLanguage, type FormatLanguage } from './format-language.js';
import { at } from '../../../../shared/at.js';

/** A part of a number format (ECMA-376 part 1, 18.8.31). */
export type FormatToken =
  | { readonly type: 'literal'; readonly text: string }
  /** Places of digits: `0`, `#` or `?`. */
  | { readonly type: 'digit'; readonly text: string }
  | { readonly type: 'point' }
  | { readonly type: 'comma' }
  | { readonly type: 'percent' }
  | { readonly type: 'exponent'; readonly text: string }
  | { readonly type: 'fraction' }
  | { readonly type: 'text' }
  | { readonly type: 'general' }
  /** A part of a date or time, such as `yyyy`, in lower case. */
  | { readonly type: 'date'; readonly text: string }
  /** Hours, minutes or seconds since the beginning, such as `[h]`. */
  | { readonly type: 'elapsed'; readonly text: string }
  | { readonly type: 'noon'; readonly text: string }
  /** The language of months and days in the section. */
  | { readonly type: 'language'; readonly language: FormatLanguage };

interface Condition {
  readonly operator: string;
  readonly limit: number;
}

export interface FormatSection {
  readonly tokens: readonly FormatToken[];
  readonly condition: Condition | undefined;
  /** The colour of the text that this section shows. */
  readonly color: Color | undefined;
}

/** A longer format code is not one of Excel. */
const MAX_CODE_LENGTH = 255;
const TOKEN =
  /"([^"]*)"?|\\(.)|[_*](.)|\[([^[\]]*)\]|(General)|(AM\/PM|A\/P)|(y+|m+|d+|h+|s+|g{1,3}|(?<![0#?.])e{1,2})|([0#?])|(E[+-])|([.,%/@;])|(.)/gisu;

interface OpenSection {
  readonly tokens: FormatToken[];
  condition: Condition | undefined;
  color: Color | undefined;
}

/** Divides a format code into its sections, which are for positive and negative numbers, zeros and texts. */
export function parseFormatCode(code: string): readonly FormatSection[] {
  const sections: OpenSection[] = [];
  let section: OpenSection = { tokens: [], condition: undefined, color: undefined };
  for (const match of code.slice(0, MAX_CODE_LENGTH).matchAll(TOKEN)) {
    const [, , , , bracket] = match;
    if (match[0] === ';') {
      sections.push(section);
      section = { tokens: [], condition: undefined, color: undefined };
    } else if (bracket === undefined) section.tokens.push(...tokenOf(match));
    else {
      section.condition ??= conditionOf(bracket);
      section.color ??= formatColor(bracket);
      section.tokens.push(...bracketToken(bracket));
    }
  }
  return [...sections, section].map((each) =>
    isOfDate(each) ? each : { ...each, tokens: each.tokens.map(withoutEra) },
  );
}

/** The letters of eras and of their years. */
const ERA = /^[eg]/;
const isOfDate = ({ tokens }: OpenSection): boolean =>
  tokens.some((token) => token.type === 'date' && !ERA.test(token.text)) ||
  !tokens.some(({ type }) => type === 'digit');

/** Beside numbers such letters mean themselves, as in `0 g`. */
const withoutEra = (token: FormatToken): FormatToken =>
  token.type === 'date' && ERA.test(token.text) ? { type: 'literal', text: token.text } : token;

function tokenOf([
  whole,
  quoted,
  escaped,
  space,
  ,
  general,
  noon,
  date,
  digit,
  exponent,
  mark,
]: RegExpMatchArray): FormatToken[] {
  if (quoted !== undefined) return [{ type: 'literal', text: quoted }];
  if (escaped !== undefined) return [{ type: 'literal', text: escaped }];
  if (space !== undefined) return [];
  if (general !== undefined) return [{ type: 'general' }];
  if (noon !== undefined) return [{ type: 'noon', text: noon }];
  if (date !== undefined) return [{ type: 'date', text: date.toLowerCase() }];
  if (digit !== undefined) return [{ type: 'digit', text: digit }];
  if (exponent !== undefined) return [{ type: 'exponent', text: exponent }];
  return [mark === undefined ? { type: 'literal', text: whole } : markToken(mark)];
}

function markToken(mark: string): FormatToken {
  switch (mark) {
    case '.':
      return { type: 'point' };
    case ',':
      return { type: 'comma' };
    case '%':
      return { type: 'percent' };
    case '/':
      return { type: 'fraction' };
    default:
      return { type: 'text' };
  }
}

/** Brackets hold an elapsed time, a currency, a language, a colour or a condition. */
function bracketToken(content: string): FormatToken[] {
  if (/^(?:h+|m+|s+)$/i.test(content)) return [{ type: 'elapsed', text: content.toLowerCase() }];
  const [, currency = '', code = ''] = /^\$([^-]*)(?:-(.*))?$/.exec(content) ?? [];
  const language = formatLanguage(code);
  return [
    ...(currency === '' ? [] : [{ type: 'literal' as const, text: currency }]),
    ...(language ? [{ type: 'language' as const, language }] : []),
  ];
}

function conditionOf(content: string): Condition | undefined {
  const match = /^(<=|>=|<>|[<>=])\s*(-?\d+(?:\.\d+)?)$/.exec(content);
  return match ? { operator: at(match, 1), limit: Number(match[2]) } : undefined;
}

export function fulfils(value: number, { operator, limit }: Condition): boolean {
  switch (operator) {
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    case '>':
      return value > limit;
    case '>=':
      return value >= limit;
    case '<>':
      return value !== limit;
    default:
      return value === limit;
  }
}

const CURRENCY = ['$#,##0_);($#,##0)', '$#,##0.00_);($#,##0.00)'] as const;

/**
 * The codes of number formats that files refer to by their number alone (ECMA-376 part 1, 18.8.30). Dates that are shown as
 * the reader's country writes them are in the order of ISO 8601.
 */
const BUILTIN_CODES: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: CURRENCY[0],
  6: CURRENCY[0],
  7: CURRENCY[1],
  8: CURRENCY[1],
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  37: '#,##0_);(#,##0)',
  38: '#,##0_);(#,##0)',
  39: '#,##0.00_);(#,##0.00)',
  40: '#,##0.00_);(#,##0.00)',
  41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
  42: '_($* #,##0_);_($* (#,##0);_($* "-"_);_(@_)',
  43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
  44: '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
};

/** Numbers that are dates in East Asian versions. */
const isEastAsianDate = (id: number): boolean => (id >= 27 && id <= 36) || (id >= 50 && id <= 58);

export function builtinFormatCode(id: number): string {
  return BUILTIN_CODES[id] ?? (isEastAsianDate(id) ? 'yyyy-mm-dd' : 'General');
}
