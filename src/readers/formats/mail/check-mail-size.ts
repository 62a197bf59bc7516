import { ReadError } from '../../read-error.js';

/** Each line of a message is an object of its own to the library that reads it. */
const MAX_LINES = 2_000_000;
/** Each piece of Base64 that ends with padding is such an object, too. In other encodings the sign costs nothing. */
const MAX_PADDINGS = 1_000_000;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const EQUALS = 0x3d;

/** @throws ReadError where a message of short lines or pieces would take many times its own size */
export function checkMailSize(bytes: Uint8Array): void {
  let lines = 0;
  let paddings = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === LINE_FEED) lines += 1;
    else if (byte === EQUALS && !endsPiece(bytes[at + 1])) paddings += 1;
  }
  if (lines > MAX_LINES) throw new ReadError('too_large', 'The e-mail has more than 2,000,000 lines.');
  if (paddings > MAX_PADDINGS && /base64/i.test(Buffer.from(bytes).toString('latin1')))
    throw new ReadError('too_large', 'The e-mail has more than 1,000,000 pieces of Base64.');
}

/** Tells whether a sign is at the end of a line, which is counted already, or one of several. */
const endsPiece = (next: number | undefined): boolean =>
  next === undefined || next === LINE_FEED || next === CARRIAGE_RETURN || next === EQUALS;
