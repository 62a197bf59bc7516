/**
 * Follows a property of a shape, `{\sp{\sn fHidden}{\sv 1}}` (RTF 1.9.1, "Drawing Object Properties"), which stands before
 * the text of the shape.
 */
export interface ShapeProperty {
  begin(): void;
  /** Heeds a control word within a property. */
  control(word: string): void;
  bytes(bytes: Uint8Array): void;
  /** Ends the property. Tells whether it says that the shape is hidden. */
  end(): boolean;
}

/** Names and values of other properties may be long. */
const MAX_CHARACTERS = 20;

export function createShapeProperty(): ShapeProperty {
  let texts: { sn: string; sv: string } | undefined;
  let part: 'sn' | 'sv' | undefined;
  return {
    begin: () => {
      texts = { sn: '', sv: '' };
      part = undefined;
    },
    control: (word) => {
      if (texts) part = word === 'sn' || word === 'sv' ? word : undefined;
    },
    bytes: (bytes) => {
      if (texts && part && texts[part].length < MAX_CHARACTERS)
        texts[part] += Buffer.from(bytes.subarray(0, MAX_CHARACTERS)).toString('latin1');
    },
    end: () => {
      const isHidden = texts?.sn.trim() === 'fHidden' && Number(texts.sv) === 1;
      texts = undefined;
      return isHidden;
    },
  };
}
