// Compiles test files, which import packages as the code in dist/ does, and lets them and that code hold the names of the
// language as names of their module. In a context of its own, as Jest has one for each file, each look at a global such as `Math` asks a function of Node for it:
// loops that compute took up to forty times as long.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import swc from '@swc/jest';
import { importBundles } from '../../../scripts/bundle-packages.mjs';

/** Globals that no test replaces: time, processes and networks are not among them. */
const NAMES = [
  'Array ArrayBuffer BigInt Boolean Buffer DataView Error Infinity JSON Map Math NaN Number Object Promise RegExp',
  'Set String Symbol WeakMap Float32Array Float64Array Int8Array Int16Array Int32Array Uint8Array Uint8ClampedArray',
  'Uint16Array Uint32Array',
].flatMap((names) => names.split(' '));

const compiler = swc.createTransformer({ jsc: { target: 'es2022' }, module: { type: 'es6' } });
const own = [import.meta.url, new URL('../../../scripts/bundle-packages.mjs', import.meta.url)]
  .map((url) => readFileSync(new URL(url), 'utf8'))
  .join('\0');

export default {
  process: (source, path, options) => {
    if (!path.endsWith('.ts')) return { code: holdNames(source) };
    const { code, map } = compiler.process(source, path, options);
    return { code: holdNames(importBundles(code, path)), map };
  },
  getCacheKey: (source, path, options) =>
    createHash('sha256')
      .update([own, source, path, options.configString, String(options.instrument)].join('\0'))
      .digest('hex'),
};

/** On the first line, so that all others stay where they are. */
function holdNames(code) {
  if (code.startsWith('#!')) return code;
  const used = NAMES.filter((name) => new RegExp(`\\b${name}\\b`).test(code) && !declares(code, name));
  return used.length === 0 ? code : `const { ${used.join(', ')} } = globalThis; ${code}`;
}

const declares = (code, name) =>
  new RegExp(`\\b(?:const|let|var|class|function\\*?|as) ${name}\\b|^import [^;]*\\b${name}\\b`, 'm').test(
    code,
  );
