const IMAGE = 0x2c;
const EXTENSION = 0x21;

export const isGif = (file: Buffer): boolean => /^GIF8[79]a$/.test(file.toString('latin1', 0, 6));

/** The size of a GIF. @throws RangeError when the file ends before it */
export const gifSize = (file: Buffer): { width: number; height: number } => ({
  width: file.readUInt16LE(6),
  height: file.readUInt16LE(8),
});

/** Tells whether a GIF is an animation: it has a second picture. */
export function isAnimated(file: Buffer): boolean {
  let images = 0;
  let at = 13 + paletteBytes(file[10]);
  while (at < file.length) {
    if (file[at] === IMAGE) {
      images += 1;
      if (images > 1) return true;
      at = afterBlocks(file, at + 11 + paletteBytes(file[at + 9]));
    } else if (file[at] === EXTENSION) at = afterBlocks(file, at + 2);
    else return false;
  }
  return false;
}

const paletteBytes = (flags = 0): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));

/** Blocks say how long they are, and an empty one is the last. */
function afterBlocks(file: Buffer, start: number): number {
  let at = start;
  for (let length = file[at]; length !== undefined && length > 0; length = file[at]) at += length + 1;
  return at + 1;
}
