import { drawPdf, FIRST_OBJECT, stream } from './drawn-pdf.js';

/**
 * A PDF whose pages of a few kB take a renderer some seconds for each layer: the colour of every pixel is what comes of
 * hundreds of sums. Its text is read at once.
 */
export function slowPdf({ pages, layers, word }: { pages: number; layers: number; word: string }): Buffer {
  const code = `{ ${'dup mul sqrt 1.0001 mul '.repeat(100)} pop dup dup }`;
  const colour = stream('/FunctionType 4/Domain[0 1 0 1]/Range[0 1 0 1 0 1]', Buffer.from(code, 'latin1'));
  const shading = `<</ShadingType 1/ColorSpace/DeviceRGB/Domain[0 1 0 1]/Matrix[612 0 0 792 0 0]/Function ${String(FIRST_OBJECT)} 0 R>>`;
  const text = `BT/F1 12 Tf 1 0 0 1 60 740 Tm(The ${word} heron stands.)Tj ET`;
  return drawPdf({
    objects: [colour, shading],
    pages: Array.from({ length: pages }, () => ({
      content: `${'q/Slow sh Q '.repeat(layers)}${text}`,
      resources: `/Shading<</Slow ${String(FIRST_OBJECT + 1)} 0 R>>`,
    })),
  });
}
