/** Elements whose text is left out. */
export const DROPPED = new Set([
  'script',
  'style',
  'template',
  'noscript',
  'svg',
  'annotation',
  'annotation-xml',
  'iframe',
  'canvas',
  'datalist',
]);
export const FOREIGN = new Set(['svg']);
/** Elements of HTML that end drawings that are not closed, as in browsers. */
export const ENDS_FOREIGN = new Set(
  'p div h1 h2 h3 h4 h5 h6 table ul ol dl li dd dt pre blockquote body br center hr img nobr b i em strong span small big u s strike sub sup code tt menu ruby'.split(
    ' ',
  ),
);
export const PARAGRAPHS = new Set(
  'address article aside blockquote details dialog dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table title ul body'.split(
    ' ',
  ),
);
export const LINES = new Set(
  'caption center dd div dt figcaption legend li summary tr thead tbody tfoot button'.split(' '),
);
export const CELLS = new Set(['td', 'th']);
export const PREFORMATTED = new Set(['pre', 'textarea']);
/** Formulas that are not closed end where such an element begins. */
export const ENDS_FORMULA = new Set([...PARAGRAPHS, ...LINES, ...CELLS, 'img', 'br', 'head']);

export function headingLevel(name: string): number | undefined {
  return /^h[1-6]$/.test(name) ? Number(name[1]) : undefined;
}
