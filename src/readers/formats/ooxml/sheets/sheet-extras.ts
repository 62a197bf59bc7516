import { lookUp } from '../../../../shared/at.js';
import { attribute } from '../../xml/read-markup.js';
import type { Block } from '../../../blocks/block.js';
import { checkMark } from '../../forms/controls.js';
import { plainText } from '../drawing/chart.js';
import { readDiagram } from '../drawing/diagram.js';
import { readTextBody } from '../drawing/text-body.js';
import { childOf, childrenOf, descend, findAll, findFirst, textOf, wholeNumber } from '../xml/elements.js';
import { cellRange, cellReference } from './cell-references.js';
import { richText } from './shared-strings.js';
import type { Workbook } from './sheet-rows.js';
import { shownDrawing } from './shown-drawing.js';

/**
 * Reads the objects on a sheet beside its cells: text boxes, titles of charts, diagrams, pictures, and comments, which are
 * hidden.
 */
export function* extraBlocks(workbook: Workbook, part: string, sheet: string): Iterable<Block> {
  const { office, gaps } = workbook;
  const targets = (from: string, type: string, leavesOut = (_id: string) => false): string[] =>
    office
      .relations(from)
      .filter((relation) => relation.type === type && !leavesOut(relation.id))
      .map(({ target }) => target);
  const controls = readControls(workbook, part);
  for (const drawing of targets(part, 'drawing')) {
    // Excel hides the shapes of controls, which a drawing of the older kind shows.
    const { tree, leavesOut } = shownDrawing(
      office.tree(drawing),
      (id) => controls.has(id) || gaps.hidden.accepts('off', { location: { sheet } }),
    );
    for (const shape of findAll(tree, new Set(['xdr:sp']))) {
      const id = attribute(descend(shape, 'xdr:nvSpPr', 'xdr:cNvPr')?.attributes, 'id');
      const mark = controls.take(id);
      const lines = readTextBody(childOf(shape, 'xdr:txBody'), { signs: gaps.signs });
      if (mark !== undefined) lines.splice(0, 1, `${mark} ${lines[0] ?? ''}`.trim());
      if (lines.length > 0) yield { text: `${lines.join('\n')}\n\n`, place: { sheet } };
    }
    for (const chart of targets(drawing, 'chart', leavesOut)) {
      const title = plainText(childOf(findFirst(office.tree(chart), 'c:chart'), 'c:title'));
      if (title !== '') yield { text: `${title}\n\n`, place: { sheet } };
    }
    for (const diagram of targets(drawing, 'diagramData', leavesOut)) {
      const lines = readDiagram(office, diagram, gaps.signs);
      if (lines.length > 0) yield { text: `${lines.join('\n')}\n\n`, place: { sheet } };
    }
    for (const _picture of findAll(tree, new Set(['xdr:pic']))) gaps.skip('picture');
  }
  for (let left = controls.left(); left > 0; left -= 1) gaps.skip('control');
  for (const _object of [...targets(part, 'oleObject'), ...targets(part, 'package')]) gaps.skip('object');
  for (const comments of [...targets(part, 'comments'), ...targets(part, 'threadedComment')])
    yield* commentBlocks(workbook, comments, sheet);
}

function* commentBlocks({ office, gaps }: Workbook, part: string, sheet: string): Iterable<Block> {
  for (const comment of findAll(
    office.tree(part),
    new Set(['x:comment', 'threadedComment', 'tc:threadedComment']),
  )) {
    const reference = attribute(comment.attributes, 'ref');
    const threaded = textOf(childOf(comment, 'text') ?? childOf(comment, 'tc:text'));
    const text = (richText(childOf(comment, 'x:text')) || threaded).trim();
    if (text === '' || !gaps.hidden.accepts('comment')) continue;
    const row = cellReference(reference)?.row;
    yield { text: `Comment on ${reference}: ${text}\n\n`, place: { sheet, row } };
  }
}

/** The rows that are headers of the tables that the file defines. */
export function statedHeaderRows({ office }: Workbook, part: string): ReadonlySet<number> {
  const rows = new Set<number>();
  for (const { type, target } of office.relations(part)) {
    if (type !== 'table') continue;
    const table = office.tree(target);
    const range = cellRange(table?.attributes['ref']);
    const hasColumns = [...childrenOf(childOf(table, 'x:tableColumns'))].length > 1;
    if (range && hasColumns && wholeNumber(table?.attributes['headerRowCount']) !== 0)
      rows.add(range.first.row);
  }
  return rows;
}

const STATES: ReadonlySet<string> = new Set(['CheckBox', 'Radio']);
/** Controls that hold nothing that somebody has chosen. */
const PLAIN: ReadonlySet<string> = new Set(['Button', 'Label', 'GBox']);

/** The controls of a sheet, whose labels are shapes of its drawing. */
interface SheetControls {
  /** Tells whether a shape is a control, or the label of one. */
  has(shape: string): boolean;
  /** The state of the box or button that a shape is; undefined for another shape. */
  take(shape: string): string | undefined;
  /** Returns the number of controls that were not taken, or are of a kind whose choice is not read. */
  left(): number;
}

function readControls({ office }: Workbook, part: string): SheetControls {
  const states = new Map<string, string>();
  const targets = new Map(
    office
      .relations(part)
      .filter(({ type }) => type === 'ctrlProp')
      .map(({ id, target }) => [id, target]),
  );
  const shapes = new Set<string>();
  let unread = 0;
  if (targets.size > 0)
    for (const event of office.stream(part, (name) => name === 'x:control')) {
      if (event.type !== 'element') continue;
      const { attributes } = event.element;
      const target = lookUp(targets, attributes['r:id']);
      if (target === undefined) continue;
      targets.delete(attribute(attributes, 'r:id'));
      shapes.add(attribute(attributes, 'shapeId'));
      const { objectType: kind = '', checked } = office.tree(target)?.attributes ?? {};
      if (STATES.has(kind))
        states.set(
          attribute(attributes, 'shapeId'),
          checkMark(checked === 'Checked' || checked === '1' ? 'on' : 'off'),
        );
      else if (!PLAIN.has(kind)) unread += 1;
    }
  return {
    has: (shape) => shapes.has(shape),
    take: (shape) => {
      const state = states.get(shape);
      states.delete(shape);
      return state;
    },
    left: () => unread + states.size,
  };
}
