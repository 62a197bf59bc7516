import { fileSettingsSchema, leaves, type Leaf } from '../shared/settings/schema.js';

/** Values of the shipped settings file that differ from the defaults, because `npm start` is for trying out Quire. */
const shippedValues = new Map<string, unknown>([['dev_mode', true]]);

function defaultOf({ path, name }: Leaf): string {
  // Every setting has a default, of a type that JSON and TOML write in the same way.
  let value: unknown = fileSettingsSchema.parse({});
  for (const key of path) value = Object.entries(value ?? {}).find(([property]) => property === key)?.[1];
  if (value === undefined) throw new Error(`${name} has no default`);
  return JSON.stringify(value);
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** Returns the table of `docs/reference/settings.md`, in Markdown. */
export function settingsTable(): string {
  const rows = leaves.map((leaf) =>
    row([
      `\`${leaf.name}\``,
      `\`${defaultOf(leaf)}\``,
      leaf.note.allowed,
      leaf.note.description,
      leaf.variables.map((name) => `\`${name}\``).join(' '),
    ]),
  );
  return [
    row(['Setting', 'Default', 'Allowed', 'Meaning', 'Environment']),
    row(Array(5).fill('---')),
    ...rows,
  ].join('\n');
}

function fileLines(leaf: Leaf): string {
  const key = leaf.name.replace(/^.*\./, '');
  const shipped = shippedValues.get(leaf.name);
  const value = shipped === undefined ? defaultOf(leaf) : JSON.stringify(shipped);
  const note = shipped === undefined ? '' : ` Without this file: ${defaultOf(leaf)}.`;
  return `# ${leaf.note.description} Allowed: ${leaf.note.allowed}.${note}\n${key} = ${value}`;
}

/** Returns the text of the shipped `quire.toml`: every setting with its value. */
export function settingsFile(): string {
  const sections = [...new Set(leaves.map(({ section }) => section))].map((section) => {
    const lines = leaves.filter((leaf) => leaf.section === section).map(fileLines);
    return [...(section === null ? [] : [`[${section}]`]), ...lines].join('\n');
  });
  const opening = '# Settings of Quire. Each can be set in the environment too, as QUIRE_<SECTION>_<KEY>.';
  return `${[opening, ...sections].join('\n\n')}\n`;
}
