interface DrawnPage {
  /** Operators of the page's content, in Latin-1. */
  readonly content: string;
  readonly width?: number;
  readonly height?: number;
  /** Further entries of the page, such as `/Rotate 90`. */
  readonly entries?: string;
  /** Entries of its resources. */
  readonly resources?: string;
  /** Further fonts, such as `/F9 7 0 R`. */
  readonly fonts?: string;
}

interface Drawing {
  readonly pages: readonly DrawnPage[];
  /** Entries of the document's information, such as `/Title(Report)`. */
  readonly info?: string;
  readonly catalog?: string;
  /** Further objects, numbered from 7. */
  readonly objects?: readonly (string | Buffer)[];
}

/** The number of the first of the further objects of a drawing. */
export const FIRST_OBJECT = 7;

/** A PDF file of pages drawn with Helvetica (F1), its bold form (F2) and Courier (F3). */
export function drawPdf({ pages, info = '', catalog = '', objects = [] }: Drawing): Buffer {
  const fonts = ['Helvetica', 'Helvetica-Bold', 'Courier'].map(
    (name) => `<</Type/Font/Subtype/Type1/BaseFont/${name}/Encoding/WinAnsiEncoding>>`,
  );
  const first = FIRST_OBJECT + objects.length;
  const kids = pages.map((_, index) => `${String(first + 2 * index)} 0 R`).join(' ');
  const all: (string | Buffer)[] = [
    `<</Type/Catalog/Pages 2 0 R${catalog}>>`,
    `<</Type/Pages/Count ${String(pages.length)}/Kids[${kids}]>>`,
    ...fonts,
    `<<${info}>>`,
    ...objects,
  ];
  for (const {
    content,
    width = 612,
    height = 792,
    entries = '',
    resources = '',
    fonts: further = '',
  } of pages) {
    const box = `/MediaBox[0 0 ${String(width)} ${String(height)}]`;
    const used = `/Resources<</Font<</F1 3 0 R/F2 4 0 R/F3 5 0 R${further}>>${resources}>>`;
    all.push(`<</Type/Page/Parent 2 0 R${box}${entries}/Contents ${String(all.length + 2)} 0 R${used}>>`);
    all.push(stream('', Buffer.from(content, 'latin1')));
  }
  return writeObjects(all);
}

export function stream(entries: string, data: Uint8Array): Buffer {
  const head = Buffer.from(`<<${entries}/Length ${String(data.length)}>>stream\n`);
  return Buffer.concat([head, data, Buffer.from('\nendstream')]);
}

function writeObjects(objects: readonly (string | Buffer)[]): Buffer {
  const parts = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  let length = 9;
  for (const [index, object] of objects.entries()) {
    const number = String(index + 1);
    const part = Buffer.concat([
      Buffer.from(`${number} 0 obj`),
      Buffer.from(object),
      Buffer.from('endobj\n'),
    ]);
    offsets.push(length);
    length += part.length;
    parts.push(part);
  }
  const size = String(objects.length + 1);
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const trailer = `trailer<</Root 1 0 R/Info 6 0 R/Size ${size}>>\nstartxref\n${String(length)}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${rows}${trailer}`)]);
}

interface Style {
  readonly size?: number;
  readonly font?: 'F1' | 'F2' | 'F3';
  /** Operators before the text, such as `1 g` for white. */
  readonly before?: string;
}

/** Operators that show a line of text, its baseline `y` points above the bottom of the page. */
export function line(
  x: number,
  y: number,
  text: string,
  { size = 10, font = 'F1', before = '' }: Style = {},
): string {
  const escaped = text.replace(/[\\()]/g, '\\$&');
  return `q ${before} BT /${font} ${String(size)} Tf ${String(x)} ${String(y)} Td (${escaped}) Tj ET Q\n`;
}

/** Operators that show lines below each other. */
export function lines(
  x: number,
  y: number,
  texts: readonly string[],
  style: Style & { leading?: number } = {},
): string {
  const leading = style.leading ?? 12;
  return texts.map((text, index) => line(x, y - leading * index, text, style)).join('');
}
