import type { Share } from './measure.js';
import type { Result } from './run.js';

/** A row of the table of figures. */
export function rowOf({ source, skipped, ...result }: Result): Record<string, string> {
  if (skipped !== null) return { format: source.name, documents: `skipped: ${skipped}` };
  const { documents, characterErrors, cells, marks, failures, silent } = result;
  return {
    format: source.name,
    documents: String(documents),
    'wrong characters': `${(100 * characterErrors).toFixed(3)} %`,
    cells: shown(cells),
    'raised, lowered': shown(marks.raised),
    symbols: shown(marks.symbol),
    unseen: shown(marks.invisible),
    'documents with an error': String(failures.length),
    'without a gap': String(silent),
  };
}

const shown = ({ right, of }: Share): string => (of === 0 ? '' : `${String(right)} of ${String(of)}`);

/** The reason why a source is under its floor; null where it is not. */
export function under({ source, skipped, ...result }: Result): string | null {
  if (skipped !== null) return null;
  const { floor } = source;
  const marks = Object.values(result.marks);
  const [right, of] = [sum(marks.map((each) => each.right)), sum(marks.map((each) => each.of))];
  const wrong = [
    ...(100 * result.characterErrors > floor.characterErrors ? ['characters'] : []),
    ...(100 * result.cells.right < floor.cells * result.cells.of ? ['cells'] : []),
    ...(100 * right < floor.marks * of ? ['marks'] : []),
  ];
  return wrong.length === 0 ? null : `${source.name}: ${wrong.join(', ')}`;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
