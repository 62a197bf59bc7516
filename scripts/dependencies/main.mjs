// npm run dependencies: writes the table of scripts/dependencies/README.md, of all packages that an installation for production takes.
// With --check it changes nothing and fails when the table does not fit the lock file, a licence is not allowed, or a package
// does not run on every version of Node.js that package.json promises. Sizes are not checked: they depend on the platform, and
// on what is installed. A folder other than this one may follow.
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { narrowerEngines } from './engines.mjs';
import { isAllowed } from './licences.mjs';
import { productionPackages } from './lock-packages.mjs';

const isCheck = process.argv[2] === '--check';
const root = process.argv[3] ?? dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const page = join(root, 'scripts', 'dependencies', 'README.md');
const BEGIN = '<!-- The rest is written by `npm run dependencies`. -->';
const MEBIBYTE = 1024 * 1024;

const packages = productionPackages(root);
const faults = packages
  .filter(({ licence }) => !isAllowed(licence))
  .map(
    ({ name, version, licence = 'none that is known' }) =>
      `${name} ${version}: licence ${licence} is not allowed`,
  );
const text = readFileSync(page, 'utf8');
if (isCheck) faults.push(...differences(text), ...narrowerEngines(root));
else writeFileSync(page, await pageWith(text));
for (const fault of faults) console.log(fault);
if (faults.length > 0) {
  console.log('scripts/dependencies/README.md says what to do about dependencies.');
  process.exitCode = 1;
}

function differences(written) {
  const wanted = new Set(packages.map((each) => cells(each).join(' | ')));
  const rows = written.slice(written.indexOf(BEGIN)).matchAll(/^\| `(.+)$/gm);
  const there = new Set([...rows].map(([row]) => withoutSize(row)));
  const missing = [...wanted]
    .filter((row) => !there.has(row))
    .map((row) => `scripts/dependencies/README.md lacks: ${row}`);
  const old = [...there]
    .filter((row) => !wanted.has(row))
    .map((row) => `scripts/dependencies/README.md is out of date: ${row}`);
  if (missing.length + old.length > 0) old.push('run `npm run dependencies`, and commit what it writes');
  return [...missing, ...old];
}

function withoutSize(row) {
  const [name, version, licence, , way] = row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
  return [name, version, licence, way].join(' | ');
}

function cells({ name, version, licence = 'unknown', way }) {
  const through = way === undefined ? 'nothing' : way.join(' › ') || 'direct';
  return [`\`${name}\``, version, licence, through];
}

async function pageWith(written) {
  const sized = packages.map((each) => ({ each, bytes: sizeOf(each.paths) }));
  sized.sort((a, b) => b.bytes - a.bytes || (cells(a.each).join() < cells(b.each).join() ? -1 : 1));
  const here = sized.filter(({ bytes }) => bytes > 0);
  const total = here.reduce((sum, { bytes }) => sum + bytes, 0);
  const lines = sized.map(({ each, bytes }) => {
    const [name, version, licence, way] = cells(each);
    return `| ${name} | ${version} | ${licence} | ${bytes > 0 ? (bytes / MEBIBYTE).toFixed(2) : '–'} | ${way} |`;
  });
  const body = `${written.slice(0, written.indexOf(BEGIN))}${BEGIN}

${String(packages.length)} packages, ${String(here.length)} of which were installed where this was written (${process.platform} on ${process.arch}), with ${(total / MEBIBYTE).toFixed(0)} MB as \`du\` counts them (blocks on disk, 1,048,576 bytes each). The others are for other platforms.

| Package | Version | Licence | MB | Through |
| --- | --- | --- | --: | --- |
${lines.join('\n')}
`;
  const { format, resolveConfig } = await import('prettier');
  return await format(body, { ...(await resolveConfig(page)), parser: 'markdown' });
}

function sizeOf(paths) {
  return paths
    .map((path) => join(root, path))
    .filter(existsSync)
    .reduce((sum, path) => sum + blocks(path), 0);
}

/** The bytes of a package on disk, without the packages within it. */
function blocks(path) {
  const status = lstatSync(path);
  const own = status.blocks * 512;
  if (!status.isDirectory()) return own;
  const inside = readdirSync(path).filter((name) => name !== 'node_modules');
  return inside.reduce((sum, name) => sum + blocks(join(path, name)), own);
}
