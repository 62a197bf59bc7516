import type { Unseen } from '../visibility/hidden-counter.js';
import type { FormulaElement } from './linear.js';

/** A formula in MathML that is not shown, and may be drawn by a picture behind it. */
interface UnshownFormula {
  readonly text: string;
  /** The reason why the formula is not shown. */
  readonly kind: Unseen;
}

/** Follows the drawings that stand beside formulas in MathML. */
export interface DrawnFormulas {
  open(attributes: FormulaElement['attributes']): void;
  close(): void;
  /** Tells whether an open element draws a formula once more that is read as MathML. */
  isOpen(): boolean;
  /** Notes what was read last. */
  note(read: 'formula' | 'text'): void;
  /** Keeps a formula that is not shown for the picture behind it. Returns false where no picture can be known for its own. */
  keep(formula: UnshownFormula): boolean;
  /** Returns the formula that is kept, and forgets it. @param picture the text of a picture: only the formula that it shows */
  take(picture?: string): UnshownFormula | undefined;
}

/**
 * KaTeX puts its drawing behind the MathML, MathJax 2 before it, and both hide it from screen readers (`aria-hidden`).
 * Wikipedia hides the MathML, whose `alttext` is the text of the picture behind it.
 */
export function createDrawnFormulas(): DrawnFormulas {
  let depth = 0;
  let last: 'formula' | 'text' = 'text';
  let alternative = '';
  let holder: FormulaElement['attributes'] = {};
  let kept: UnshownFormula | undefined;
  return {
    open: (attributes) => {
      const isUnspoken = attributes['aria-hidden'] === 'true';
      const isBeside = last === 'formula' || holder['data-mathml'] !== undefined;
      if (depth > 0 || (isUnspoken && isBeside)) depth += 1;
      alternative = attributes['alttext'] ?? alternative;
      holder = attributes;
    },
    close: () => {
      holder = {};
      if (depth > 0) depth -= 1;
    },
    isOpen: () => depth > 0,
    note: (read) => {
      last = read;
    },
    keep: (formula) => {
      if (alternative.trim() === '') return false;
      kept = formula;
      return true;
    },
    take: (picture) => {
      const formula = kept;
      if (picture !== undefined && picture.trim() !== alternative.trim()) return undefined;
      kept = undefined;
      return formula;
    },
  };
}
