/** The points by which texts of one line may stand higher or lower than each other. */
const LINE_THRESHOLD = 4.6;
/** A text farther from the text before it than this many points is another cell. */
const CELL_THRESHOLD = 7;

/**
 * The text of a page by lines, with a tab between cells: by the rule of `getText` of pdf-parse 2.4.5 (Apache-2.0), whose text
 * this is, letter for letter.
 */
export async function textOfPage(page: TextPage, options?: { disableNormalization: true }): Promise<string> {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = page.getViewport({ scale: 1 }).transform;
  const { items } = await page.getTextContent(options);
  const lines = new Lines();
  for (const { str: text, transform = [], width = 0, height = 0, hasEOL: endsLine = false } of items) {
    // Without a string, it says where marked content begins or ends.
    if (text === undefined) continue;
    const [, , , , left = 0, bottom = 0] = transform;
    const [x, y] = [a * left + c * bottom + e, b * left + d * bottom + f];
    lines.add({ text, x, y, width, height, endsLine });
  }
  return lines.text();
}

/** A page of pdf.js. */
export interface TextPage {
  getViewport(options: { scale: number }): { readonly transform: readonly number[] };
  getTextContent(options?: object): Promise<TextContent>;
}

interface TextContent {
  readonly items: readonly TextContentItem[];
  /** The facts about fonts, by their names. */
  readonly styles?: Readonly<Record<string, { readonly vertical?: boolean } | undefined>>;
}

/** A text as pdf.js gives it, with its matrix on the page; marks of content have none. */
export interface TextContentItem {
  str?: string;
  /** True if the line ends with it. */
  hasEOL?: boolean;
  transform?: readonly number[];
  readonly width?: number;
  readonly height?: number;
  readonly fontName?: string;
}

interface Placed {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly endsLine: boolean;
}

/** Puts texts one after the other, with the ends of lines and tabs that their places ask for. */
class Lines {
  readonly #parts: string[] = [];
  /** The end of the text before. */
  #end: { readonly x: number; readonly y: number } | undefined;
  #height = 0;

  add(item: Placed): void {
    if (this.#beginsLine(item)) {
      this.#parts.push('\n');
      this.#height = 0;
    }
    const text = this.#beginsCell(item) ? `\t${item.text}` : item.text;
    this.#parts.push(text);
    this.#end = { x: item.x + item.width, y: item.y };
    this.#height = Math.max(this.#height, item.height);
    if (item.endsLine) this.#parts.push('\n');
    if (item.endsLine || text.endsWith('\n')) this.#height = 0;
  }

  text(): string {
    return this.#parts.join('');
  }

  #beginsLine({ text, y, endsLine }: Placed): boolean {
    if (!this.#end) return false;
    const moved = Math.abs(this.#end.y - y);
    if (moved <= LINE_THRESHOLD || moved - 1 <= this.#height) return false;
    const isEndItself = text.startsWith('\n') || (text.trim() === '' && endsLine);
    return this.#parts.at(-1)?.endsWith('\n') === false && !isEndItself;
  }

  #beginsCell({ x, y }: Placed): boolean {
    if (!this.#end) return false;
    return Math.abs(this.#end.y - y) < LINE_THRESHOLD && Math.abs(this.#end.x - x) > CELL_THRESHOLD;
  }
}
