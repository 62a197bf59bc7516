import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { importBundles } from '../bundle-packages.mjs';

/** Returns the path of the compiled file. */
function targetOf(source, root) {
  const path = join(root, 'dist', relative(join(root, 'src'), source));
  return path.replace(/\.ts$/, '.js');
}

/**
 * Compiles one file like `npm run build`, without checking types. If the source was deleted, its targets are removed.
 * @throws Error with the position of a syntax error
 */
export async function compileFile(source, root) {
  const target = targetOf(source, root);
  if (!existsSync(source)) {
    await Promise.all([rm(target, { force: true }), rm(`${target}.map`, { force: true })]);
    return target;
  }
  const { outputText, sourceMapText, diagnostics } = ts.transpileModule(await readFile(source, 'utf8'), {
    compilerOptions: optionsOf(root),
    fileName: source,
    reportDiagnostics: true,
  });
  if (diagnostics.length > 0) {
    const host = {
      getCanonicalFileName: (name) => name,
      getCurrentDirectory: () => root,
      getNewLine: () => '\n',
    };
    throw new Error(ts.formatDiagnostics(diagnostics, host));
  }
  await mkdir(dirname(target), { recursive: true });
  const map = JSON.parse(sourceMapText);
  const sources = [relative(dirname(target), source)];
  await writeFile(`${target}.map`, JSON.stringify({ ...map, file: basename(target), sources }));
  await writeFile(target, importBundles(outputText, target, join(root, 'dist', 'packages')));
  return target;
}

let options;

function optionsOf(root) {
  options ??= ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.build.json'), ts.sys.readFile).config,
    // The list of files is not needed here, and reading it takes a while.
    { ...ts.sys, readDirectory: () => [] },
    root,
  ).options;
  // A single file does not show that its package consists of ES modules.
  Object.assign(options, { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler });
  return options;
}
