import { deflateSync } from 'node:zlib';
import { encode as encodeJpeg } from 'jpeg-js';
import { loadPdfium } from '../../src/readers/formats/pages/pdfium.js';
import { decodePng, encodePng } from '../../src/readers/formats/pictures/png.js';
import { drawPdf, FIRST_OBJECT, lines, stream } from './drawn-pdf.js';

export const PROSE = [
  'The axolotl is a paedomorphic salamander, closely related to the tiger',
  'salamander. It is unusual among amphibians in that it reaches adulthood',
  'without undergoing metamorphosis. Instead of taking to the land, adults',
  'remain aquatic and gilled. The species was found in several lakes, such',
  'as Lake Xochimilco underlying Mexico City. In 1998, some 6,000 animals',
  'per square kilometre were counted; in 2014, only 36 of them were left.',
];

/** A picture in shades of grey, a byte each, in rows from the top. */
export interface Scan {
  readonly width: number;
  readonly height: number;
  readonly grey: Uint8Array;
}

/** A page of US letter with these lines of text, at so many dots to the inch. */
export const scanLines = (dpi: number, texts: readonly string[] = PROSE): Promise<Scan> =>
  scanContent(dpi, lines(60, 700, texts, { size: 12, leading: 18 }));

/** A page of US letter with what these operators draw, at so many dots to the inch. */
export async function scanContent(dpi: number, content: string): Promise<Scan> {
  const drawn = drawPdf({ pages: [{ content }] });
  const pdfium = await loadPdfium();
  const [shot] = (await pdfium?.render(drawn, [1], dpi)) ?? [];
  if (!shot) throw new Error('nothing was rendered');
  const { width, height, channels, pixels } = decodePng(shot.imageBuffer);
  return { width, height, grey: new Uint8Array(width * height).map((_, at) => pixels[at * channels] ?? 0) };
}

/** Turns a picture clockwise by so many quarters. */
export function turned(scan: Scan, quarters: number): Scan {
  if (quarters === 0) return scan;
  const { width, height, grey } = scan;
  const once = new Uint8Array(grey.length);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) once[x * height + height - 1 - y] = grey[y * width + x] ?? 0;
  return turned({ width: height, height: width, grey: once }, quarters - 1);
}

/** Turns what a picture shows clockwise around its middle, on paper of the same size. */
export function skewed(scan: Scan, degrees: number): Scan {
  const { width, height } = scan;
  const [sin, cos] = [Math.sin((degrees * Math.PI) / 180), Math.cos((degrees * Math.PI) / 180)];
  const grey = new Uint8Array(width * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const [across, down] = [x - width / 2, y - height / 2];
      grey[y * width + x] = shadeAt(
        scan,
        across * cos + down * sin + width / 2,
        down * cos - across * sin + height / 2,
      );
    }
  return { width, height, grey };
}

/** The shade between four pixels, by how near each is. */
function shadeAt({ width, height, grey }: Scan, x: number, y: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [right, below] = [x - left, y - top];
  const pixel = (column: number, row: number) =>
    column < 0 || row < 0 || column >= width || row >= height ? 255 : (grey[row * width + column] ?? 255);
  const upper = pixel(left, top) * (1 - right) + pixel(left + 1, top) * right;
  const lower = pixel(left, top + 1) * (1 - right) + pixel(left + 1, top + 1) * right;
  return Math.round(upper * (1 - below) + lower * below);
}

export const toPng = ({ width, height, grey }: Scan): Buffer =>
  encodePng({ width, height, channels: 1, pixels: grey });

/** A JPEG in colours. */
export function toJpeg({ width, height, grey }: Scan): Buffer {
  const data = Buffer.alloc(4 * grey.length, 255);
  for (const [at, shade] of grey.entries()) data.fill(shade, 4 * at, 4 * at + 3);
  return encodeJpeg({ width, height, data }, 90).data;
}

/** A PDF whose pages are only these pictures, with operators of an invisible layer over them. */
export function toPdf(scans: readonly Scan[], layer = ''): Buffer {
  return drawPdf({
    pages: scans.map((scan, index) => {
      const isWide = scan.width > scan.height;
      const [width, height] = isWide ? [792, 612] : [612, 792];
      return {
        content: `q ${String(width)} 0 0 ${String(height)} 0 0 cm /Im Do Q\n${layer}`,
        resources: `/XObject<</Im ${String(FIRST_OBJECT + index)} 0 R>>`,
        width,
        height,
      };
    }),
    objects: scans.map(({ width, height, grey }) => {
      const size = `/Width ${String(width)}/Height ${String(height)}/ColorSpace/DeviceGray/BitsPerComponent 8`;
      return stream(`/Type/XObject/Subtype/Image${size}/Filter/FlateDecode`, deflateSync(grey));
    }),
  });
}

/** A PDF whose page is only a picture of text, at so many dots to the inch. */
export async function scan(dpi: number, { layer = '' } = {}): Promise<{ pdf: Buffer; png: Buffer }> {
  const page = await scanLines(dpi);
  return { pdf: toPdf([page], layer), png: toPng(page) };
}

/** The number of characters to change, for each of the truth. */
export function errorRate(truth: string, read: string): number {
  let row = Array.from({ length: read.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...truth].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...read].entries())
      next.push(
        Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)),
      );
    row = next;
  }
  return (row.at(-1) ?? 0) / truth.length;
}

export const flat = (text: string): string => text.replace(/\s+/g, ' ').trim();
