import type { FormulaElement } from './linear.js';
import { writeMathMl } from './mathml.js';

interface OpenElement extends FormulaElement {
  readonly children: (FormulaElement | string)[];
}

/** Collects the elements of a formula in MathML from the events of a parser of markup. */
export interface MathCollector {
  /** Tells whether a formula is open. */
  isOpen(): boolean;
  /** Takes the beginning of an element, of a formula itself, too. Returns false for one outside of formulas. */
  open(name: string, attributes: FormulaElement['attributes']): boolean;
  text(text: string): void;
  /** Takes the end of an element. Returns the text of the formula that ends with it. */
  close(name: string): string | undefined;
  /** Ends a formula that was not closed, and returns its text; undefined where none is open. */
  end(): string | undefined;
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1).toLowerCase();

export function createMathCollector(): MathCollector {
  let open: OpenElement[] = [];
  const end = (): string | undefined => {
    const [formula] = open;
    open = [];
    return formula && writeMathMl(formula);
  };
  return {
    isOpen: () => open.length > 0,
    open: (name, attributes) => {
      const local = localName(name);
      const holder = open.at(-1);
      if (!holder && local !== 'math') return false;
      const element: OpenElement = { name: local, attributes, children: [] };
      holder?.children.push(element);
      open.push(element);
      return true;
    },
    text: (text) => void open.at(-1)?.children.push(text),
    close: (name) => {
      const local = localName(name);
      const depth = open.findLastIndex((element) => element.name === local);
      if (depth === 0) return end();
      if (depth > 0) open.length = depth;
      return undefined;
    },
    end,
  };
}
