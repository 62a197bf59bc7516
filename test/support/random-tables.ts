import { line } from './drawn-pdf.js';

/** Numbers from 0 to below 1 that a seed decides. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The styles in which the lines of a table are drawn. */
export const TABLE_STYLES = [
  'grid',
  'thin rectangles',
  'filled cells',
  'inner grid',
  'box',
  'booktabs',
] as const;
export type TableStyle = (typeof TABLE_STYLES)[number];

export interface RandomTable {
  readonly style: TableStyle;
  readonly rows: readonly (readonly string[])[];
  /** Operators that draw it, with its top at 720 points. */
  readonly content: string;
}

const WORDS =
  'river copper item of plan north basic unit spare wheel engine total a coverage maintenance'.split(' ');
/** The widths of Helvetica's characters in thousandths, as far as they are not those of a digit. */
const WIDTHS: Readonly<Record<string, number>> = {
  ' ': 278,
  '.': 278,
  '-': 333,
  f: 278,
  i: 222,
  l: 222,
  m: 833,
  r: 333,
  t: 278,
  w: 722,
  c: 500,
  s: 500,
  v: 500,
  k: 500,
};
const LEFT = 50;
const TOP = 720;

/** A table of 3 to 5 columns and 3 to 8 rows, with numbers, texts, empty cells and cells of two lines. */
export function randomTable(random: () => number, style: TableStyle): RandomTable {
  const below = (limit: number) => Math.floor(random() * limit);
  const words = (most: number) =>
    Array.from({ length: 1 + below(most) }, () => WORDS[below(WORDS.length)] ?? '').join(' ');
  const size = 8 + below(3);
  const makers = [
    () => String(below(99_999)),
    () => `${String(below(9_999))}.${String(below(10))}0`,
    () => `P-${String(100 + below(900))}`,
    () => words(2),
    () => words(4),
  ];
  const kinds = Array.from({ length: 3 + below(3) }, () => below(makers.length));
  const isOftenEmpty = random() < 0.4;
  const rows = Array.from({ length: 3 + below(6) }, (_, row) =>
    kinds.map((kind, column): string[] => {
      if (row === 0) return [words(2)];
      if (isOftenEmpty && column > 0 && random() < 0.12) return [];
      const text = makers[kind]?.() ?? '';
      return kind > 2 && random() < 0.15 ? [text, words(2)] : [text];
    }),
  );
  return {
    style,
    rows: rows.map((row) => row.map((cell) => cell.join(' '))),
    content: drawTable({ rows, kinds, size, style, below }),
  };
}

interface Drawn {
  readonly rows: readonly (readonly (readonly string[])[])[];
  readonly kinds: readonly number[];
  readonly size: number;
  readonly style: TableStyle;
  readonly below: (limit: number) => number;
}

function drawTable({ rows, kinds, size, style, below }: Drawn): string {
  const widthOf = (text: string) =>
    [...text].reduce((sum, character) => sum + (WIDTHS[character] ?? 556), 0) * (size / 1_000);
  // Without lines between them, columns stand at least a letter and a half apart.
  const padding = (style === 'box' || style === 'booktabs' ? 7 : 3) + below(4);
  const xs = [LEFT];
  for (const column of kinds.keys()) {
    const widest = Math.max(...rows.map((row) => Math.max(0, ...(row[column] ?? []).map(widthOf))));
    xs.push((xs.at(-1) ?? LEFT) + widest + 2 * padding + below(15));
  }
  const ys = [TOP];
  for (const row of rows)
    ys.push((ys.at(-1) ?? TOP) - Math.max(1, ...row.map((cell) => cell.length)) * size * 1.2 - 6);
  const align = below(3);
  const texts = rows.flatMap((row, at) =>
    row.flatMap((cell, column) => {
      const [left = 0, right = 0, top = 0, bottom = 0] = [xs[column], xs[column + 1], ys[at], ys[at + 1]];
      const room = top - bottom - 6 - cell.length * size * 1.2;
      return cell.map((text, index) => {
        const isRight = (kinds[column] ?? 0) < 2 && at > 0;
        const x = isRight ? right - padding - widthOf(text) : left + padding;
        return line(x, top - 3 - (room * align) / 2 - size - index * size * 1.2, text, { size });
      });
    }),
  );
  return linesOf(style, xs, ys) + texts.join('');
}

function linesOf(style: TableStyle, xs: readonly number[], ys: readonly number[]): string {
  const [left = 0, right = 0, top = 0, bottom = 0] = [xs[0], xs.at(-1), ys[0], ys.at(-1)];
  const across = (y: number) => `${String(left)} ${String(y)} m ${String(right)} ${String(y)} l S\n`;
  const down = (x: number) => `${String(x)} ${String(top)} m ${String(x)} ${String(bottom)} l S\n`;
  const filled = (x: number, y: number, width: number, height: number) =>
    `${[x, y, width, height].map(String).join(' ')} re f\n`;
  switch (style) {
    case 'grid':
      return ys.map(across).join('') + xs.map(down).join('');
    case 'inner grid':
      return ys.slice(1, -1).map(across).join('') + xs.slice(1, -1).map(down).join('');
    case 'thin rectangles':
      return [
        ...ys.map((y) => filled(left, y, right - left, 0.6)),
        ...xs.map((x) => filled(x, bottom, 0.6, top - bottom)),
      ].join('');
    case 'filled cells':
      return `q .85 g ${ys
        .slice(1)
        .flatMap((y, at) =>
          xs.slice(1).map((x, column) => {
            const [from = 0, above = 0] = [xs[column], ys[at]];
            return filled(from + 0.5, y + 0.5, x - from - 1, above - y - 1);
          }),
        )
        .join('')} Q\n`;
    case 'box':
      return ys.map(across).join('') + down(left) + down(right);
    case 'booktabs':
      return [top, ys[1] ?? top, bottom].map(across).join('');
  }
}
