import { deflateSync } from 'node:zlib';
import { loadPdfium } from '../../src/workers/parse/formats/pdf/pdfium.js';
import { decodePng, encodePng } from '../../src/workers/parse/formats/pictures/png.js';
import { drawPdf, FIRST_OBJECT, lines, stream } from './drawn-pdf.js';

export const PROSE = [
  'The axolotl is a paedomorphic salamander, closely related to the tiger',
  'salamander. It is unusual among amphibians in that it reaches adulthood',
  'without undergoing metamorphosis. Instead of taking to the land, adults',
  'remain aquatic and gilled. The species was found in several lakes, such',
  'as Lake Xochimilco underlying Mexico City. In 1998, some 6,000 animals',
  'per square kilometre were counted; in 2014, only 36 of them were left.',
];

/** A PDF whose page is only a picture of text, at so many dots to the inch. */
export async function scan(dpi: number, { layer = '' } = {}): Promise<{ pdf: Buffer; png: Buffer }> {
  const drawn = drawPdf({ pages: [{ content: lines(60, 700, PROSE, { size: 12, leading: 18 }) }] });
  const pdfium = await loadPdfium();
  const [shot] = (await pdfium?.render(drawn, [1], dpi)) ?? [];
  if (!shot) throw new Error('nothing was rendered');
  const { width, height, channels, pixels } = decodePng(shot.imageBuffer);
  const grey = new Uint8Array(width * height).map((_, at) => pixels[at * channels] ?? 0);
  const entries = `/Type/XObject/Subtype/Image/Width ${String(width)}/Height ${String(height)}/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/FlateDecode`;
  const pdf = drawPdf({
    pages: [
      {
        content: `q 612 0 0 792 0 0 cm /Im Do Q\n${layer}`,
        resources: `/XObject<</Im ${String(FIRST_OBJECT)} 0 R>>`,
      },
    ],
    objects: [stream(entries, deflateSync(grey))],
  });
  return { pdf, png: encodePng({ width, height, channels: 1, pixels: grey }) };
}
