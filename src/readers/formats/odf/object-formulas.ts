import { createMathCollector } from '../formulas/mathml.js';
import { scanMarkup } from '../xml/read-markup.js';
import type { Zip } from '../zip/zip.js';

/** Most bytes of XML of a formula. */
const MAX_BYTES = 1024 * 1024;
/** Most formulas of a file that are read. */
const MAX_FORMULAS = 10_000;

/** Finds the text of a formula by the reference to the object that has it. */
export type FormulaOf = (reference: string) => string | undefined;

/** Reads formulas (MathML) that are objects of their own in the package. Charts and other objects have none. */
export function createObjectFormulas(zip: Zip): FormulaOf {
  let count = 0;
  return (reference) => {
    const member = `${reference.replace(/^\.\//, '').replace(/\/$/, '')}/content.xml`;
    if (reference === '' || count >= MAX_FORMULAS || !zip.has(member)) return undefined;
    count += 1;
    const bytes = zip.read(member, MAX_BYTES);
    return bytes && formulaIn(bytes);
  };
}

function formulaIn(bytes: Uint8Array): string | undefined {
  const math = createMathCollector();
  let found: string | undefined;
  const take = (text: string | undefined): void => {
    if (text !== undefined && text !== '') found ??= text;
  };
  scanMarkup([bytes], {
    open: (name, attributes) => void math.open(name, attributes),
    close: (name) => take(math.close(name)),
    text: (text) => {
      math.text(text);
    },
    cut: () => take(math.end()),
  });
  return found;
}
