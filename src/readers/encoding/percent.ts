import { toWellFormed } from '../../shared/well-formed.js';

/** Puts the bytes that `%` and two digits stand for in their place. */
export const percentBytes = (written: Buffer): Buffer =>
  Buffer.from(
    written
      .toString('latin1')
      .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  );

/** A text in UTF-8 as the value of a parameter such as `filename*` has it (RFC 8187): what URIs leave alone is none there. */
export const parameterValue = (text: string): string =>
  encodeURIComponent(toWellFormed(text)).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
