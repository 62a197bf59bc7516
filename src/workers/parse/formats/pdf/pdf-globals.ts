/**
 * pdf.js refers to these browser classes when it is loaded, although reading text never draws. Without them it would load
 * a native canvas, which does not exist on some systems and needs much memory. This must be imported before pdf.js.
 */
for (const name of ['DOMMatrix', 'ImageData', 'Path2D'])
  if (!(name in globalThis))
    Object.defineProperty(globalThis, name, { value: createBlank, configurable: true, writable: true });

/** Stands in for a constructor. */
function createBlank(): object {
  return {};
}
