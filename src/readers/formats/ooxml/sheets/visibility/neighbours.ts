import { WHITE } from '../../../visibility/colors.js';
import type { Fill } from '../../../visibility/layers.js';
import { childOf, childrenOf, isTrue, wholeNumber } from '../../xml/elements.js';
import type { XmlElement } from '../../xml/stream-xml.js';
import type { SheetStyles } from '../styles.js';

/** Tells whether a row has empty cells that are filled otherwise, on which a text may be seen that its cell has no room for. */
export function createNeighbours(styles: SheetStyles) {
  const fillOf = (style: string | undefined): Fill => {
    const { fill } = styles.cell(wholeNumber(style) ?? 0);
    return fill === 'none' ? WHITE : fill;
  };
  /** The fills of columns, which hold for cells that are not there. */
  const ofColumns = new Set<Fill>();
  const fillsIn = (row: XmlElement): ReadonlySet<Fill> => {
    const fills = new Set(ofColumns);
    if (isTrue(row.attributes['customFormat'])) fills.add(fillOf(row.attributes['s']));
    for (const cell of childrenOf(row, 'x:c'))
      if (!childOf(cell, 'x:v') && !childOf(cell, 'x:is')) fills.add(fillOf(cell.attributes['s']));
    return fills;
  };
  return {
    readColumns(columns: XmlElement): void {
      for (const { attributes } of childrenOf(columns, 'x:col'))
        if (attributes['style'] !== undefined) ofColumns.add(fillOf(attributes['style']));
    },
    inRow(row: XmlElement): (fill: Fill) => boolean {
      let fills: ReadonlySet<Fill> | undefined;
      return (fill) => {
        fills ??= fillsIn(row);
        const own = fill === 'none' ? WHITE : fill;
        return fills.size > 1 || (fills.size === 1 && !fills.has(own));
      };
    },
  };
}
