import { toWellFormed } from '../../shared/json-values.js';

/**
 * Returns a text in UTF-8 as the value of a parameter such as `filename*` has it (RFC 8187): signs that URIs leave as they
 * are become escapes, too.
 */
export const parameterValue = (text: string): string =>
  encodeURIComponent(toWellFormed(text)).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
