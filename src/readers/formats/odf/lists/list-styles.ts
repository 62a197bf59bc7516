import { countedAs, shownNumber } from '../../count-formats.js';
import { attribute, type Attributes } from '../../xml/read-markup.js';
import { lookUp } from '../../../../shared/at.js';

/** The numbering of the items of a level (OpenDocument 1.3 part 3, 16.32). */
export interface NumberStyle {
  /** `1`, `a`, `A`, `i` or `I`; empty where no number is shown. */
  readonly format: string;
  /** True if `bb` follows `aa`, and not `ab`. */
  readonly isSynced: boolean;
  readonly prefix: string;
  readonly suffix: string;
  /** The number of levels that the number shows, the last of which is its own. */
  readonly shownLevels: number;
  readonly start: number;
}

const MAX_STYLES = 10_000;
const MAX_LEVELS = 10;

/** Collects how lists are numbered. */
export function createListStyles() {
  const styles = new Map<string, NumberStyle>();
  let list = '';
  return {
    open(name: string, attributes: Attributes): void {
      if (name === 'text:list-style') list = attribute(attributes, 'style:name');
      if (name !== 'text:list-level-style-number' || styles.size >= MAX_STYLES) return;
      styles.set(`${list}/${attributes['text:level'] ?? '1'}`, {
        format: attribute(attributes, 'style:num-format'),
        isSynced: attributes['style:num-letter-sync'] === 'true',
        prefix: attribute(attributes, 'style:num-prefix'),
        suffix: attribute(attributes, 'style:num-suffix'),
        shownLevels: Math.min(wholeNumber(attributes['text:display-levels']) ?? 1, MAX_LEVELS),
        start: wholeNumber(attributes['text:start-value']) ?? 1,
      });
    },
    /** Undefined for a level that has no numbers. @param level from 1 */
    numbers: (style: string | undefined, level: number): NumberStyle | undefined =>
      lookUp(styles, style && `${style}/${String(level)}`),
  };
}

/** Returns a number as a list shows it, without the text around it. */
export function numberAs(number: number, { format, isSynced }: NumberStyle): string {
  if (format === '') return '';
  if (isSynced && format === 'a') return countedAs(number, 'lowerLetter');
  if (isSynced && format === 'A') return countedAs(number, 'upperLetter');
  return shownNumber(number, format);
}

/** A number that is written as digits alone, and is no larger than lists are. */
export function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}
