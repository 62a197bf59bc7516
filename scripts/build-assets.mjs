// Adds to dist/ what the TypeScript compiler does not produce: compiled WebAssembly kernels (*.as.ts) and files of other types.
import { chmod, copyFile, mkdir, readdir, rename, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

for (const entry of await readdir(join(root, 'src'), { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const source = join(entry.parentPath, entry.name);
  const target = join(root, 'dist', relative(join(root, 'src'), source));
  if (source.endsWith('.as.ts')) await compile(source, target.replace(/\.as\.ts$/, '.wasm'));
  else if (!source.endsWith('.ts')) await build(source, target, (to) => copyFile(source, to));
}

// `npx quire` executes this file.
await chmod(join(root, 'dist', 'cli', 'main.js'), 0o755);

async function compile(source, target) {
  await build(source, target, async (to) => {
    const { default: asc } = await import('assemblyscript/asc');
    const flags = [
      '-O3',
      '--noAssert',
      '--runtime',
      'stub',
      '--enable',
      'simd',
      '--importMemory',
      '--maximumMemory',
      '65536',
    ];
    const options = ['--baseDir', root, '--outFile', relative(root, to), ...flags];
    const { error, stderr } = await asc.main([relative(root, source), ...options]);
    if (error) throw new Error(`${source}: ${stderr.toString()}`, { cause: error });
  });
}

/** Makes a missing or outdated target in a temporary file and renames it, so that concurrent builds do no harm. */
async function build(source, target, make) {
  const made = await stat(target).catch(() => null);
  if (made && made.mtimeMs >= (await stat(source)).mtimeMs) return;
  const aside = `${target}.${process.pid}.wasm`;
  await mkdir(dirname(target), { recursive: true });
  await make(aside);
  await rename(aside, target);
}
