import { Parser, type Handler, type ParserOptions } from 'htmlparser2';

/**
 * The greatest number of elements that are open at once, as in browsers. Deeper ones count as empty: their text belongs to
 * the elements around them.
 */
export const MAX_DEPTH = 512;

interface ShallowOptions extends ParserOptions {
  /** Elements whose text is left out. They may be as deep again, so that this holds within deep elements, too. */
  readonly dropped: ReadonlySet<string>;
}

/**
 * htmlparser2 with a bound on the depth. Each opening tag moves its whole stack of open elements, and each closing tag
 * searches it, so without a bound a megabyte of nested elements takes minutes.
 */
export class ShallowParser extends Parser {
  private depth = 0;
  /** The depth of the element that a tag opens; 0 at a closing tag. */
  private openedDepth = 0;
  private readonly dropped: ReadonlySet<string>;

  constructor(
    handler: Pick<Handler, 'onopentag' | 'onclosetag' | 'ontext'>,
    { dropped, ...options }: ShallowOptions,
  ) {
    super(
      {
        ...handler,
        onopentag: (...opened) => {
          this.depth += 1;
          handler.onopentag(...opened);
        },
        onclosetag: (...closed) => {
          this.depth -= 1;
          handler.onclosetag(...closed);
        },
      },
      options,
    );
    this.dropped = dropped;
  }

  override onopentagname(start: number, endIndex: number): void {
    this.openedDepth = this.depth;
    super.onopentagname(start, endIndex);
  }

  override onclosetag(start: number, endIndex: number): void {
    this.openedDepth = 0;
    super.onclosetag(start, endIndex);
  }

  /** Elements that cannot hold anything are not put onto the stack. A tag that is ignored has no name, and is not closed. */
  protected override isVoidElement(name: string): boolean {
    if (name === '') return false;
    const limit = this.dropped.has(name) ? 2 * MAX_DEPTH : MAX_DEPTH;
    return this.openedDepth >= limit || super.isVoidElement(name);
  }
}
