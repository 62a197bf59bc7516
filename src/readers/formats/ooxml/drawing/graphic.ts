import { lookUp } from '../../../../shared/at.js';
import { tableBlocks } from '../../tables/table-blocks.js';
import type { Block, Place } from '../../../blocks/block.js';
import type { SignReader } from '../../signs/sign-reader.js';
import type { OfficePackage } from '../package/office-package.js';
import { findAll } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import { readChart } from './chart.js';
import { readDiagram } from './diagram.js';

const GRAPHICS: ReadonlySet<string> = new Set(['c:chart', 'dgm:relIds']);

/** Reads the charts and diagrams to which an element of this part refers, each of them once. */
export function createGraphics(office: OfficePackage, part: string, signs: SignReader) {
  const read = new Set<string>();
  const targets = new Map(office.relations(part).map(({ id, target }) => [id, target]));
  return function* graphicsOf(element: XmlElement, place?: Place): Iterable<Block> {
    for (const { name, attributes } of findAll(element, GRAPHICS)) {
      const target = lookUp(targets, name === 'c:chart' ? attributes['r:id'] : attributes['r:dm']);
      if (target === undefined || read.has(target)) continue;
      read.add(target);
      if (name === 'c:chart') yield* chartBlocks(office, target, place);
      else {
        const lines = readDiagram(office, target, signs);
        if (lines.length > 0) yield { text: `${lines.join('\n')}\n\n`, place };
      }
    }
  };
}

function* chartBlocks(office: OfficePackage, part: string, place: Place | undefined): Iterable<Block> {
  const { title, rows } = readChart(office, part);
  if (title !== '') yield { text: `${title}\n\n`, place };
  yield* tableBlocks(rows.map((cells) => ({ cells, place })));
}
