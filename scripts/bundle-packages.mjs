// Puts the packages that every process loads into one file each, in dist/packages/: a process begins sooner with a dozen files
// than with a thousand. Compiled files and tests import these, so that nobody meets the classes of a package twice.
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'dist', 'packages');

/** Packages of many files that look for no others beside their code. */
const BUNDLED = [
  '@modelcontextprotocol/server',
  'bullmq',
  'express',
  'jsonwebtoken',
  'prom-client',
  'redis',
  'redis-om',
  'zod',
  'zod-openapi',
];
/** Native code, which BullMQ takes where it is there, and a package that others share with it. */
const APART = ['msgpackr-extract', '@opentelemetry/api'];

/** Names that packages expect in their files where they are no ES modules. */
const BANNER = `import { createRequire as createRequireOfBundle } from 'node:module';
const require = createRequireOfBundle(import.meta.url);
const { filename: __filename, dirname: __dirname } = import.meta;`;

const IMPORT = new RegExp(`(\\b(?:from|import)\\s*\\(?\\s*)(['"])(${BUNDLED.join('|')})\\2`, 'g');

/** All bundles lie beside each other, those of scoped packages as well. */
const fileOf = (name) => `${name.replace('/', '+')}.js`;

/** Returns the place of a package's bundle; null where it has none. */
export const bundleOf = (name) => (BUNDLED.includes(name) ? join(folder, fileOf(name)) : null);

/** Returns the code of a file at `path` in which it imports the bundles of packages, which are in `packages`. */
export function importBundles(code, path, packages = folder) {
  const way = relative(dirname(path), packages).replaceAll('\\', '/');
  const from = way.startsWith('.') ? way : `./${way}`;
  return code.replace(
    IMPORT,
    (_all, before, quote, name) => `${before}${quote}${from}/${fileOf(name)}${quote}`,
  );
}

/** Writes the bundles, unless they are newer than the lock file, and lets compiled files import them. */
export async function bundlePackages(compiled) {
  if (!areMade()) await writeBundles();
  for (const path of compiled.filter((each) => existsSync(each))) {
    const code = readFileSync(path, 'utf8');
    const changed = importBundles(code, path);
    if (changed !== code) writeFileSync(path, changed);
  }
}

function areMade() {
  const parts = [join(root, 'package-lock.json'), fileURLToPath(import.meta.url)];
  const newest = Math.max(...parts.map((path) => statSync(path).mtimeMs));
  return BUNDLED.every((name) => {
    const made = statSync(bundleOf(name), { throwIfNoEntry: false });
    return made !== undefined && made.mtimeMs >= newest;
  });
}

async function writeBundles() {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: BUNDLED.map((name) => ({ in: `${name}?`, out: fileOf(name).slice(0, -3) })),
    outdir: folder,
    plugins: [{ name: 'doors', setup: openDoors }],
    external: APART,
    bundle: true,
    // The code that several of them have is in files of its own, once.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Errors are told apart by the names of their classes.
    keepNames: true,
    banner: { js: BANNER },
    tsconfigRaw: {},
    logLevel: 'warning',
    write: false,
  });
  mkdirSync(folder, { recursive: true });
  // Renamed, so that a process that begins meanwhile finds whole files.
  const moves = outputFiles.map(({ path, contents }) => ({
    path,
    contents,
    aside: `${path}.${process.pid}`,
  }));
  for (const { aside, contents } of moves) writeFileSync(aside, contents);
  for (const { aside, path } of moves) renameSync(aside, path);
}

/** Each bundle exports the names that Node finds in its package. */
function openDoors({ onResolve, onLoad }) {
  onResolve({ filter: /\?$/ }, ({ path }) => ({ path: path.slice(0, -1), namespace: 'door' }));
  onLoad({ filter: /.*/, namespace: 'door' }, async ({ path: name }) => {
    const names = Object.keys(await import(name)).filter((each) => /^[\w$]+$/.test(each));
    return { contents: `export { ${names.join(', ')} } from '${name}';`, resolveDir: root };
  });
}
