// The report about mutants, and the mutants that need not be noticed.
import { readFileSync } from 'node:fs';

/** The parts that stay the same where other lines of the file change. */
const accountOf = ({ file, original, replacement }) => [file, original, replacement].join('\n');
/** A mutant among all. */
export const keyOf = (mutant) => [mutant.line, mutant.column, mutant.operator, accountOf(mutant)].join('\n');

/**
 * Mutants that behave as the code does, each with the reason. An entry is of one line, and has its text where the file
 * has the same expression in others, too.
 */
export function readAccepted() {
  const entries = JSON.parse(readFileSync(new URL('accepted.json', import.meta.url), 'utf8'));
  const isOf = (entry, mutant) =>
    accountOf(entry) === accountOf(mutant) && (entry.text ?? mutant.text) === mutant.text;
  return entries.map((entry) => ({ ...entry, accepts: (mutant) => isOf(entry, mutant) }));
}

const KINDS = ['killed', 'late', 'survived', 'unreached', 'accepted'];

export function printReport({ room, judged, accepted, all }) {
  const rows = judged.map((each) => ({ ...each, status: statusOf(each, accepted) }));
  const files = [...new Set(rows.map(({ file }) => file))];
  const print = (cells) => console.log(`| ${cells.join(' | ')} |`);
  for (const each of rows.filter(({ status }) => ['survived', 'unreached'].includes(status)))
    console.log(
      `${each.file}:${each.line}:${each.column} ${each.status} ${each.operator}: ${short(each.original)} → ${short(each.replacement)}`,
    );
  print(['file', 'mutants', ...KINDS, 'share']);
  print(Array.from({ length: KINDS.length + 3 }, () => '---'));
  for (const file of files)
    print(
      cellsOf(
        file,
        rows.filter((each) => each.file === file),
      ),
    );
  print(cellsOf(`${room} (${rows.length} of ${all})`, rows));
}

const statusOf = (mutant, accepted) =>
  ['survived', 'unreached'].includes(mutant.status) && accepted.some((entry) => entry.accepts(mutant))
    ? 'accepted'
    : mutant.status;

function cellsOf(name, rows) {
  const counts = KINDS.map((kind) => rows.filter(({ status }) => status === kind).length);
  const [killed, late, , , accepted] = counts;
  const counted = rows.length - accepted;
  return [
    name,
    rows.length,
    ...counts,
    counted === 0 ? '–' : `${((100 * (killed + late)) / counted).toFixed(1)} %`,
  ];
}

const short = (text) => {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 70 ? `${line.slice(0, 67)}…` : line;
};
