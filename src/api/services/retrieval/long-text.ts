/** A string of an answer that is too long to be held whole: it comes in parts, as it is sent. */
export class LongText {
  readonly parts: AsyncIterable<string>;

  constructor(parts: AsyncIterable<string>) {
    this.parts = parts;
  }
}
