import { deflateRawSync, deflateSync, constants } from 'node:zlib';

interface PdfObject {
  readonly entries: string;
  readonly stream?: Uint8Array;
}

/** A PDF file of these objects, numbered from 1; the first is the catalogue. */
function writePdf(objects: readonly PdfObject[]): Uint8Array {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  let length = 9;
  const offsets: number[] = [];
  const add = (part: string | Uint8Array) => {
    const bytes = Buffer.from(part);
    parts.push(bytes);
    length += bytes.length;
  };
  for (const [index, { entries, stream }] of objects.entries()) {
    offsets.push(length);
    const size = stream ? `/Length ${String(stream.length)}` : '';
    add(`${String(index + 1)} 0 obj<<${entries}${size}>>`);
    if (stream) {
      add('stream\n');
      add(stream);
      add('\nendstream');
    }
    add('endobj\n');
  }
  const start = length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = String(objects.length + 1);
  add(`xref\n0 ${size}\n0000000000 65535 f \n${rows}`);
  add(`trailer<</Root 1 0 R/Size ${size}>>\nstartxref\n${String(start)}\n%%EOF\n`);
  return Buffer.concat(parts);
}

const FONT = '/Type/Font/Subtype/Type1/BaseFont/Helvetica';
const page = (content: number, resources: string) =>
  `/Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents ${String(content)} 0 R/Resources<<${resources}>>`;

/** A PDF with a page for each list of lines (ASCII without brackets and backslashes). */
export function pagesPdf(pages: readonly (readonly string[])[]): Uint8Array {
  const kids = pages.map((_, index) => `${String(4 + 2 * index)} 0 R`).join(' ');
  const objects = pages.flatMap((lines, index): PdfObject[] => {
    const shown = lines.map((line) => `(${line}) Tj T*`).join('\n');
    return [
      { entries: page(5 + 2 * index, '/Font<</F1 3 0 R>>') },
      { entries: '', stream: Buffer.from(`BT /F1 10 Tf 12 TL 40 750 Td\n${shown}\nET`) },
    ];
  });
  return writePdf([
    { entries: '/Type/Catalog/Pages 2 0 R' },
    { entries: `/Type/Pages/Kids[${kids}]/Count ${String(pages.length)}` },
    { entries: FONT },
    ...objects,
  ]);
}

/** A PDF of some kilobytes whose page inflates to five gigabytes of blanks. */
export function hungryPdf(): Uint8Array {
  const piece = deflateRawSync(Buffer.alloc(64 * 1024 * 1024, ' '), { finishFlush: constants.Z_FULL_FLUSH });
  const header = Buffer.from([0x78, 0x9c]);
  const end = Buffer.from([0x03, 0x00]);
  const blanks = Buffer.concat([header, ...Array.from({ length: 80 }, () => piece), end]);
  return writePdf([
    { entries: '/Type/Catalog/Pages 2 0 R' },
    { entries: '/Type/Pages/Kids[4 0 R]/Count 1' },
    { entries: FONT },
    { entries: page(5, '/Font<</F1 3 0 R>>') },
    { entries: '/Filter[/FlateDecode/FlateDecode]', stream: deflateSync(blanks) },
  ]);
}

/** A page whose content stream shows nothing and never seems to end: some fifty billion graphics operators. */
export function endlessPdf(): string {
  const form = (number: number, uses: number): string => {
    const stream = `/F${String(uses)} Do `.repeat(60);
    return `${String(number)} 0 obj<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F${String(uses)} ${String(uses)} 0 R>>>>/Length ${String(stream.length)}>>stream\n${stream}\nendstream endobj\n`;
  };
  const forms = [5, 6, 7, 8, 9, 10].map((number) => form(number, number + 1)).join('');
  return `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</F5 5 0 R>>/Font<</T 12 0 R>>>>>>endobj\n4 0 obj<</Length 6>>stream\n/F5 Do\nendstream endobj\n${forms}11 0 obj<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</Font<</T 12 0 R>>>>/Length 26>>stream\nBT /T 9 Tf (a) Tj ET      \nendstream endobj\n12 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n`;
}

/** Pages of full lines, each with a word of its own to be found by. */
export function manyPages(count: number): string[][] {
  return Array.from({ length: count }, (_, number) => [
    `Page ${String(number)} tells of the axolotl${String(number)}.`,
    ...Array.from(
      { length: 40 },
      (__, line) => `Line ${String(line)} says that ${String(number * line)} is a number.`,
    ),
  ]);
}
