import { createRequire, Module } from 'node:module';

/**
 * pdf.js refers to these browser classes when it is loaded, although reading text never draws. This must be imported before
 * pdf.js.
 */
for (const name of ['DOMMatrix', 'ImageData', 'Path2D'])
  if (!(name in globalThis))
    Object.defineProperty(globalThis, name, { value: createBlank, configurable: true, writable: true });

/** Stands in for a constructor. */
function createBlank(): object {
  return {};
}

/**
 * pdf.js also loads a native canvas, which takes 35 MB of memory in each process, and warns where there is none
 * (scripts/dependencies/README.md). It gets an empty one.
 */
const fromPdfjs = createRequire(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
try {
  const canvas = fromPdfjs.resolve('@napi-rs/canvas');
  fromPdfjs.cache[canvas] = Object.assign(new Module(canvas), { loaded: true });
} catch {
  // Without optional packages there is none, not even one that could not be loaded.
}
