import type { Pdfium } from '../../pages/pdfium.js';

/** Adobe's collections of characters, each with an encoding whose codes are Unicode's and a character that is in no other script. */
const COLLECTIONS = [
  ['Japan1', 'UniJIS-UCS2-H', 'あ'],
  ['GB1', 'UniGB-UCS2-H', '们'],
  ['CNS1', 'UniCNS-UCS2-H', '灣'],
  ['Korea1', 'UniKS-UCS2-H', '가'],
] as const;
export type Collection = (typeof COLLECTIONS)[number][0];

let lacked: Promise<ReadonlySet<Collection>> | undefined;

/** The collections of which this machine has no font that PDFium finds, by a page in fonts that are not in its file. */
export async function lackedCollections({
  readWords,
}: Pick<Pdfium, 'readWords'>): Promise<ReadonlySet<Collection>> {
  lacked ??= readWords(probe(), [1]).then((pages) => {
    const text = (pages.get(1) ?? []).map((item) => item.text).join('');
    return new Set(COLLECTIONS.flatMap(([name, , sign]) => (text.includes(sign) ? [] : [name])));
  });
  return await lacked.catch(() => new Set<Collection>());
}

/** The number of the first object of the fonts. */
const FIRST = 5;

function probe(): Uint8Array {
  const fonts = COLLECTIONS.map((_, at) => `/F${String(at)} ${String(FIRST + 3 * at)} 0 R`).join('');
  const content = COLLECTIONS.map(([, , sign], at) => {
    const code = sign.charCodeAt(0).toString(16).padStart(4, '0');
    return `BT /F${String(at)} 10 Tf 10 ${String(20 + 40 * at)} Td <${code}> Tj ET`;
  }).join('\n');
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<<${fonts}>>>>>>`,
    `<</Length ${String(content.length)}>>stream\n${content}\nendstream`,
    ...COLLECTIONS.flatMap(([name, encoding], at) => [
      `<</Type/Font/Subtype/Type0/BaseFont/Probe/Encoding/${encoding}/DescendantFonts[${String(FIRST + 1 + 3 * at)} 0 R]>>`,
      `<</Type/Font/Subtype/CIDFontType0/BaseFont/Probe/CIDSystemInfo<</Registry(Adobe)/Ordering(${name})/Supplement 0>>/FontDescriptor ${String(FIRST + 2 + 3 * at)} 0 R>>`,
      '<</Type/FontDescriptor/FontName/Probe/Flags 6/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 70>>',
    ]),
  ];
  const body = objects.map((object, at) => `${String(at + 1)} 0 obj\n${object}\nendobj\n`).join('');
  return Buffer.from(`%PDF-1.4\n${body}trailer<</Root 1 0 R>>\n%%EOF\n`);
}
