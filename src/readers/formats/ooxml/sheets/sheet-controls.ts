import { checkMark } from '../../forms/controls.js';
import type { Workbook } from './sheet-rows.js';

const STATES: ReadonlySet<string> = new Set(['CheckBox', 'Radio']);
/** Controls that hold nothing that somebody has chosen. */
const PLAIN: ReadonlySet<string> = new Set(['Button', 'Label', 'GBox']);

/** The controls of a sheet, whose labels are shapes of its drawing. */
export interface SheetControls {
  /** The state of the box or button that a shape is; undefined for another shape. */
  take(shape: string): string | undefined;
  /** Returns the number of controls that were not taken, or are of a kind whose choice is not read. */
  left(): number;
}

export function readControls({ office }: Workbook, part: string): SheetControls {
  const states = new Map<string, string>();
  const targets = new Map(
    office
      .relations(part)
      .filter(({ type }) => type === 'ctrlProp')
      .map(({ id, target }) => [id, target]),
  );
  let unread = 0;
  if (targets.size > 0)
    for (const event of office.stream(part, (name) => name === 'x:control')) {
      if (event.type !== 'element') continue;
      const { attributes } = event.element;
      const target = targets.get(attributes['r:id'] ?? '');
      if (target === undefined) continue;
      targets.delete(attributes['r:id'] ?? '');
      const { objectType: kind = '', checked } = office.tree(target)?.attributes ?? {};
      if (STATES.has(kind))
        states.set(
          attributes['shapeId'] ?? '',
          checkMark(checked === 'Checked' || checked === '1' ? 'on' : 'off'),
        );
      else if (!PLAIN.has(kind)) unread += 1;
    }
  return {
    take: (shape) => {
      const state = states.get(shape);
      states.delete(shape);
      return state;
    },
    left: () => unread + states.size,
  };
}
