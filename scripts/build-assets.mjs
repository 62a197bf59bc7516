// Adds to dist/ what the TypeScript compiler does not produce: packages in one file each, compiled WebAssembly kernels (*.as.ts),
// the tokens of the tokenizer, the rates of terms, the data that reads scans of English, and files of other types.
import { chmod, copyFile, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePackages } from './bundle-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const compiled = [];
for (const entry of await readdir(join(root, 'src'), { recursive: true, withFileTypes: true })) {
  // Pages are for people.
  if (!entry.isFile() || entry.name.endsWith('.md')) continue;
  const source = join(entry.parentPath, entry.name);
  const target = join(root, 'dist', relative(join(root, 'src'), source));
  if (source.endsWith('.as.ts')) await compile(source, target.replace(/\.as\.ts$/, '.wasm'));
  else if (source.endsWith('.ts')) compiled.push(target.replace(/\.ts$/, '.js'));
  else await build(source, target, copyFile);
}
await bundlePackages(compiled);

const ranks = fileURLToPath(import.meta.resolve('tiktoken/encoders/cl100k_base.json'));
const itsCode = join(root, 'src', 'shared', 'text', 'token-ranks.ts');
await build(ranks, join(root, 'dist', 'shared', 'text', 'cl100k-base.ranks'), packRanks, [ranks, itsCode]);

const texts = join(root, 'src', 'shared', 'text');
const sources = (await readdir(texts, { recursive: true })).filter((name) => name.endsWith('.ts'));
const analysis = sources.map((name) => join(texts, name));
const rates = join(root, 'dist', 'shared', 'text', 'background.rates');
await build(join(texts, 'background-words.ts'), rates, writeRates, analysis);

// The package holds the data of English twice, three quarters of it less exact; the reader takes this.
const english = fileURLToPath(
  import.meta.resolve('@tesseract.js-data/eng/4.0.0_best_int/eng.traineddata.gz'),
);
await build(english, join(root, 'dist', 'readers', 'formats', 'ocr', 'eng.traineddata.gz'), copyFile);

// `npx quire` executes this file.
await chmod(join(root, 'dist', 'cli', 'main.js'), 0o755);

/** The ranks of tiktoken, as the service reads them. */
async function packRanks(source, to) {
  const { packTokenRanks } = await import('../dist/shared/text/token-ranks.js');
  const { bpe_ranks: lines } = JSON.parse(await readFile(source, 'utf8'));
  const tokens = [];
  for (const line of lines.trim().split('\n')) {
    // Each line: an exclamation mark, the rank of its first token, and its tokens.
    const [, first, ...encoded] = line.split(' ');
    for (const [index, token] of encoded.entries())
      tokens[Number(first) + index] = Buffer.from(token, 'base64');
  }
  await writeFile(to, packTokenRanks(tokens));
}

/** How frequent terms are in general. */
async function writeRates(_source, to) {
  const { makeBackgroundRates } = await import('../dist/shared/text/background-words.js');
  await writeFile(to, Float64Array.from([...makeBackgroundRates()].flat()));
}

async function compile(source, target) {
  await build(source, target, async (_source, to) => {
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

/**
 * Makes a missing target, or one that is older than what it is made of, in a temporary file and renames it, so that
 * concurrent builds do no harm.
 */
async function build(source, target, make, parts = [source]) {
  const made = await stat(target).catch(() => null);
  const times = await Promise.all(parts.map(async (part) => (await stat(part)).mtimeMs));
  if (made && made.mtimeMs >= Math.max(...times)) return;
  const aside = `${target}.${process.pid}.wasm`;
  await mkdir(dirname(target), { recursive: true });
  await make(source, aside);
  await rename(aside, target);
}
