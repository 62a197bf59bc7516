import { attribute } from '../../xml/read-markup.js';
import { childOf, childrenOf, findAll, isTrue } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';

/** Elements of a drawing that may be hidden. */
const SHAPES: ReadonlySet<string> = new Set([
  'xdr:sp',
  'xdr:grpSp',
  'xdr:pic',
  'xdr:graphicFrame',
  'xdr:cxnSp',
]);
const GRAPHICS: ReadonlySet<string> = new Set(['c:chart', 'dgm:relIds']);

interface ShownDrawing {
  readonly tree: XmlElement | undefined;
  /** Tells whether a chart or a diagram is left out, by the id of its relation. */
  readonly leavesOut: (id: string) => boolean;
}

/**
 * Takes shapes out of the drawing of a sheet that are not shown, with all that is in them.
 * @param admits tells whether a hidden shape is read, by its id
 */
export function shownDrawing(drawing: XmlElement | undefined, admits: (id: string) => boolean): ShownDrawing {
  const leftOut = new Set<string>();
  const shown = (element: XmlElement): XmlElement => ({
    ...element,
    children: element.children.flatMap((child): (string | XmlElement)[] => {
      if (typeof child === 'string') return [child];
      const id = SHAPES.has(child.name) ? hiddenId(child) : undefined;
      if (id === undefined || admits(id)) return [shown(child)];
      for (const { attributes } of findAll(child, GRAPHICS))
        leftOut.add(attribute(attributes, 'r:id', 'r:dm'));
      return [];
    }),
  });
  return { tree: drawing && shown(drawing), leavesOut: (id) => leftOut.has(id) };
}

/** The id of a shape, a group or a frame that is hidden; undefined for one that is shown. */
function hiddenId(shape: XmlElement): string | undefined {
  for (const properties of childrenOf(shape)) {
    const { hidden, id = '' } = childOf(properties, 'xdr:cNvPr')?.attributes ?? {};
    if (isTrue(hidden)) return id;
  }
  return undefined;
}
