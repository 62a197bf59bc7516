// Resolves modules while mutants run: the tests import from src/ and run dist/, as with Jest, where files with mutants have
// the text that holds them all.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleOf } from '../bundle-packages.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const [sources, compiled] = ['src', 'dist'].map((folder) => pathToFileURL(join(root, folder, '/')).href);
const globals = new URL('test-globals.mjs', import.meta.url).href;

/** The folder of the texts that hold mutants, by the path of their file in dist/. */
const changed = process.env.QUIRE_MUTANTS_FOLDER;

export function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: globals, shortCircuit: true };
  if (specifier.startsWith('.') && context.parentURL !== undefined) {
    const { href } = new URL(specifier, context.parentURL);
    if (href.startsWith(sources)) return { url: compiled + href.slice(sources.length), shortCircuit: true };
  }
  const bundle = bundleOf(specifier);
  if (bundle !== null && !context.parentURL?.includes('/node_modules/'))
    return { url: pathToFileURL(bundle).href, shortCircuit: true };
  return next(specifier, context);
}

export function load(url, context, next) {
  if (!url.startsWith(compiled)) return next(url, context);
  const name = url.slice(compiled.length);
  const path = join(changed, name);
  if (existsSync(path)) return { format: 'module', source: readFileSync(path, 'utf8'), shortCircuit: true };
  if (name !== 'shared/redis/script.js') return next(url, context);
  return {
    format: 'module',
    source: chooseWhenSent(readFileSync(fileURLToPath(url), 'utf8')),
    shortCircuit: true,
  };
}

/** The module that sends scripts, which chooses the mutant when it does. */
function chooseWhenSent(source) {
  const chosen = source
    .replaceAll(/\.eval\(source,/g, '.eval(globalThis.__lua(source),')
    .replace(
      /const digest = ([^;]*)\.update\(source\)([^;]*);/,
      'const digest = () => $1.update(globalThis.__lua(source))$2;',
    )
    .replace('evalSha(digest,', 'evalSha(digest(),');
  if (chosen.split('__lua').length !== 4)
    throw new Error('scripts are sent in another way than is known here');
  return chosen;
}
