import type { Random } from '../support/fuzz/random.js';
import { madeUpWord } from './marks.js';
import type { Cell, Part, Run } from './sample.js';

interface TableOptions {
  readonly write: () => Run[];
  readonly spans: boolean;
}

/** A table whose first row names the columns. Its other cells are words, numbers, sentences, or empty. */
export function randomTable(
  random: Random,
  { write, spans }: TableOptions,
): Extract<Part, { readonly kind: 'table' }> {
  const width = 2 + random(4);
  const height = 2 + random(5);
  const header = Array.from({ length: width }, (): Cell => ({ runs: [{ text: madeUpWord(random) }] }));
  const body = Array.from({ length: height }, () =>
    Array.from({ length: width }, (_, column): Cell => ({ runs: randomCell(random, column, write) })),
  );
  return { kind: 'table', rows: [header, ...(spans && random(2) === 0 ? merged(random, body) : body)] };
}

function randomCell(random: Random, column: number, write: () => Run[]): Run[] {
  const kind = column === 0 ? 0 : random(10);
  if (kind <= 2) return [{ text: madeUpWord(random) }];
  if (kind <= 5) return [{ text: randomNumber(random) }];
  if (kind === 6) return [];
  if (kind === 7) return [{ text: `${madeUpWord(random)} | ${madeUpWord(random)}` }];
  return write();
}

function randomNumber(random: Random): string {
  const whole = String(1 + random(9_999));
  return [whole, `${whole}.${String(random(10))}5`, `-${whole}`, `${whole} %`][random(4)] ?? whole;
}

/** Joins two cells that stand above each other, or side by side, into one. */
function merged(random: Random, body: readonly (readonly Cell[])[]): (readonly Cell[])[] {
  const width = body[0]?.length ?? 0;
  if (random(2) === 0) {
    const row = random(body.length);
    const column = random(width - 1);
    return body.map((cells, index) =>
      index === row
        ? [...cells.slice(0, column), reaching(random, { columns: 2 }), ...cells.slice(column + 2)]
        : cells,
    );
  }
  const row = random(body.length - 1);
  const column = random(width);
  return body.map((cells, index) => {
    if (index === row) return cells.map((cell, at) => (at === column ? reaching(random, { rows: 2 }) : cell));
    return index === row + 1 ? cells.filter((_, at) => at !== column) : cells;
  });
}

/** A merged cell has a short text, so that it is seen where it is, and repeated in each row. */
function reaching(random: Random, over: { columns?: number; rows?: number }): Cell {
  return { runs: [{ text: madeUpWord(random) }], ...over };
}
