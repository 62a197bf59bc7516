/**
 * Escapes the parts of keys that clients send. A part that is not the last escapes the separator. All parts escape
 * halves of surrogate pairs, which would all be the same in UTF-8, and a percent sign where the text after it
 * would make it look like an escape. Ordinary ids do not change.
 */
const LAST = /%(?=25|3A|u[\dA-F]{4})|[\uD800-\uDFFF]/gu;
const INNER = /%(?=25|3A|u[\dA-F]{4})|[:\uD800-\uDFFF]/gu;
const ESCAPED = /%(?:25|3A|u([\dA-F]{4}))/g;

export const escapeInner = (part: string): string => part.replace(INNER, escapeCharacter);

export const escapeLast = (part: string): string => part.replace(LAST, escapeCharacter);

function escapeCharacter(character: string): string {
  if (character === '%') return '%25';
  if (character === ':') return '%3A';
  return `%u${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

export const unescapePart = (escaped: string): string =>
  escaped.replace(ESCAPED, (sequence, unit: string | undefined) => {
    if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
    return sequence === '%25' ? '%' : ':';
  });
