/**
 * pdf.js names these classes of browsers when it is loaded, though reading text never draws. Without them it depends on
 * a native canvas, which is absent on some systems and does not load in little memory. Imported before pdf-parse.
 */
for (const name of ['DOMMatrix', 'ImageData', 'Path2D'])
  if (!(name in globalThis))
    Object.defineProperty(globalThis, name, { value: createBlank, configurable: true, writable: true });

/** Stands in for a constructor. */
function createBlank(): object {
  return {};
}
