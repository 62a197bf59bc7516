import { decodeAs } from '../../encoding/decode-as.js';

/** Bytes of text that wait to be decoded together: a character may consist of several, which are written one by one. */
export interface PendingBytes {
  add(bytes: Uint8Array, codePage: () => string): void;
  /** Leaves out that many characters, which repeat one in Unicode for readers that do not know it. */
  skip(count: number): void;
  /** Tells whether a character that is written as a control word is left out, and counts it then. */
  skipsCharacter(): boolean;
  /** The text of all bytes until now; undefined for none. */
  take(): string | undefined;
}

export function createPendingBytes(): PendingBytes {
  let pending: Uint8Array[] = [];
  let page = '';
  let toSkip = 0;
  return {
    add: (bytes, codePage) => {
      const skipped = Math.min(toSkip, bytes.length);
      toSkip -= skipped;
      if (skipped === bytes.length) return;
      page = codePage();
      pending.push(bytes.subarray(skipped));
    },
    skip: (count) => {
      toSkip = count;
    },
    skipsCharacter: () => {
      if (toSkip === 0) return false;
      toSkip -= 1;
      return true;
    },
    take: () => {
      if (pending.length === 0) return undefined;
      const text = decodeAs(Buffer.concat(pending), page);
      pending = [];
      return text;
    },
  };
}
