/** Puts the bytes that `%` and two digits stand for in their place. */
export const percentBytes = (written: Buffer): Buffer =>
  Buffer.from(
    written
      .toString('latin1')
      .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  );
