/**
 * Parts of keys, of what clients send. A part that is not the last escapes what separates it from the next. All of them
 * escape halves of surrogate pairs, which are one and the same in UTF-8, and a percent sign where what follows would
 * make it look like an escape: ordinary ids stay as they are.
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
