/** A string of a response that is too long to be held in memory. Its parts are read while they are sent. */
export class StreamedText {
  readonly parts: AsyncIterable<string>;

  constructor(parts: AsyncIterable<string>) {
    this.parts = parts;
  }
}
