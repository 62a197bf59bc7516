// This file has no dependencies, because it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const builtMark = join(root, 'dist', '.built');

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** Compares this Node.js with the `engines` of package.json, each range of which is a caret or an open end. */
function requireNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const ranges = [...engines.node.matchAll(/(\^|>=)(\d+)(?:\.(\d+))?/g)].map(([, sign, ...numbers]) => {
    const [major, minor] = numbers.map((number) => Number(number ?? 0));
    return { isOpen: sign === '>=', major, minor };
  });
  const [major, minor] = process.versions.node.split('.').map(Number);
  const fits = ranges.some(
    (range) => (major === range.major && minor >= range.minor) || (range.isOpen && major > range.major),
  );
  if (fits) return;
  const names = ranges.map((range) => `${range.major}${range.minor > 0 ? `.${range.minor}` : ''}`);
  fail(`Quire needs Node.js ${names.join(', ')} or newer; this is ${process.versions.node}.`);
}

/** Says first what takes long, since npm tells nobody but a terminal that it works. */
function npm(args, step) {
  process.stderr.write(`${step}\n`);
  // Output goes to stderr, because stdout is for what the user requested.
  const { status } = spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) fail(`npm ${args.join(' ')} failed.`);
}

function readPackages(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : null;
}

/** Compares contents rather than times, so that a clone or a checkout does not cause an installation. */
function isInstalled() {
  const wanted = readPackages(join(root, 'package-lock.json'));
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'));
  if (wanted === null || installed === null) return false;
  const fits = Object.entries(installed).every(([path, { version }]) => wanted[path]?.version === version);
  // Optional packages of other platforms are in the lock file but never installed.
  return fits && Object.keys(wanted).every((path) => path === '' || wanted[path].optional || installed[path]);
}

export function newestTime(path) {
  // Nothing is made of pages.
  if (path.endsWith('.md')) return 0;
  const status = statSync(path);
  if (!status.isDirectory()) return status.mtimeMs;
  const inside = readdirSync(path).map((name) => newestTime(join(path, name)));
  return Math.max(status.mtimeMs, ...inside);
}

function isBuilt() {
  if (!existsSync(builtMark)) return false;
  const sources = ['src', 'scripts', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  return sources.every((path) => newestTime(join(root, path)) < statSync(builtMark).mtimeMs);
}

/** Installs and builds what is missing or out of date. */
export function prepare() {
  requireNode();
  if (!isInstalled()) npm(['ci', '--include=dev'], 'Installing packages with npm ci, once (half a minute) …');
  if (isBuilt()) return;
  npm(['run', '--silent', 'build:service'], 'Building dist/ from src/ (some ten seconds) …');
  writeFileSync(builtMark, '');
}
