// Reports circles of imports among the files below the folders that it is called with. It follows type-only imports, too,
// which `import-x/no-cycle` leaves out.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';

const files = process.argv.slice(2).flatMap((folder) =>
  readdirSync(folder, { recursive: true })
    .filter((name) => /(?<!\.d)\.(ts|mts|mjs)$/.test(name))
    .map((name) => resolve(folder, name)),
);
const imports = new Map(files.map((file) => [file, importsOf(file)]));

/** Files whose imports have all been followed. */
const done = new Set();
const circles = files.flatMap((file) => circlesFrom(file, []));
for (const circle of circles)
  console.log(`circle of imports: ${circle.map((file) => relative('.', file)).join(' → ')}`);
if (files.length === 0) console.log('no files to check');
process.exitCode = circles.length > 0 || files.length === 0 ? 1 : 0;

function importsOf(file) {
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true);
  return importedFiles
    .filter(({ fileName }) => fileName.startsWith('.'))
    .map(({ fileName }) => join(file, '..', fileName.replace(/\.js$/, '.ts')));
}

/** Follows imports depth first. A file that imports one of the files on the way to it closes a circle. */
function circlesFrom(file, way) {
  if (way.includes(file)) return [[...way.slice(way.indexOf(file)), file]];
  if (done.has(file)) return [];
  const found = (imports.get(file) ?? []).flatMap((imported) => circlesFrom(imported, [...way, file]));
  done.add(file);
  return found;
}
