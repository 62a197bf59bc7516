import { attribute } from '../xml/read-markup.js';
import { writeOmml } from '../formulas/omml.js';
import type { XmlElement } from '../ooxml/xml/stream-xml.js';

/** Formulas within more groups than this go on as text of the innermost. */
const MAX_DEPTH = 500;

/**
 * Collects a formula, whose groups are the elements of Office's markup by other names: `{\mf{\mnum…}{\mden…}}` is `m:f` with
 * `m:num` and `m:den`.
 * @see Rich Text Format 1.9.1, "Math"
 */
export interface FormulaCollector {
  isOpen(): boolean;
  openGroup(): void;
  /** Takes the control word with which a group begins. */
  begin(word: string): void;
  text(text: string): void;
  /** Takes the end of a group. Returns the text of the formula that ends with it. */
  closeGroup(): string | undefined;
  /** Ends a formula that was not closed, and returns its text; undefined where none is open. */
  end(): string | undefined;
}

interface OpenElement {
  readonly element: XmlElement & { readonly attributes: Record<string, string> };
  /** The number of the group that it is. */
  readonly group: number;
}

export function createFormulaCollector(): FormulaCollector {
  let open: OpenElement[] = [];
  let groups = 0;
  const end = () => {
    const [formula] = open;
    open = [];
    return formula && writeOmml(formula.element);
  };
  return {
    isOpen: () => open.length > 0,
    end,
    openGroup: () => {
      groups += 1;
    },
    begin: (word) => {
      const isFormula = word === 'moMath';
      if (isFormula !== (open.length === 0) || !word.startsWith('m') || open.length > MAX_DEPTH) return;
      const element = { name: `m:${word.slice(1)}`, attributes: {}, children: [] };
      open.at(-1)?.element.children.push(element);
      open.push({ element, group: groups });
    },
    text: (text) => {
      const element = open.at(-1)?.element;
      if (!element) return;
      const written: XmlElement = { name: 'm:t', attributes: {}, children: [text] };
      if (open.at(-2)?.element.name.endsWith('Pr'))
        element.attributes['m:val'] = attribute(element.attributes, 'm:val') + text;
      else if (element.name === 'm:r') element.children.push(written);
      else element.children.push({ name: 'm:r', attributes: {}, children: [written] });
    },
    closeGroup: () => {
      groups -= 1;
      const last = open.at(-1);
      if (!last || last.group <= groups) return undefined;
      if (open.length === 1) return end();
      open.pop();
      return undefined;
    },
  };
}
