import { spawnSync } from 'node:child_process';
import { existsSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFile } from './compile.mjs';

/** Editors write a file in several steps, and tools write many files, so changes are collected for this time. */
const QUIET_MS = 60;

/**
 * Compiles files that change in src/ into dist/. `onCompiled` gets the changed files and their targets. A file that cannot
 * be compiled is reported, and compiled again with the next change.
 */
export function compileOnChange(root, onCompiled = () => undefined) {
  const written = new Set();
  let timer;
  let working = Promise.resolve();
  const compile = async () => {
    const changed = [...written];
    written.clear();
    try {
      const targets = await compileAll(changed, root);
      if (targets.length === 0) return;
      // `npm test` and `npm start` look at this file to learn that there is nothing to build.
      writeFileSync(join(root, 'dist', '.built'), '');
      await onCompiled(changed, targets);
    } catch (error) {
      for (const path of changed) written.add(path);
      process.stderr.write(`${error.message}\n`);
    }
  };
  watch(join(root, 'src'), { recursive: true }, (_event, name) => {
    if (name === null || !/\.(?!md$)\w+$/.test(name)) return;
    written.add(join(root, 'src', name));
    clearTimeout(timer);
    timer = setTimeout(() => (working = working.then(compile)), QUIET_MS);
  });
}

async function compileAll(changed, root) {
  const isCode = (path) => path.endsWith('.ts') && !path.endsWith('.as.ts');
  const targets = await Promise.all(changed.filter(isCode).map((path) => compileFile(path, root)));
  const assets = changed.filter((path) => !isCode(path) && existsSync(path));
  if (assets.length === 0) return targets;
  const { status } = spawnSync(process.execPath, ['scripts/build-assets.mjs'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('scripts/build-assets.mjs failed');
  const built = assets.map((path) => path.replace(join(root, 'src'), join(root, 'dist')));
  return [...targets, ...built.map((path) => path.replace(/\.as\.ts$/, '.wasm'))];
}
