/** The length of names that are read; a longer rest says nothing new. */
const MAX_UNITS = 256;
/** The borders of digits and letters, which people write apart when they ask: `report2024` is found by `report 2024`. */
const DIGIT_BORDER = /(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/gu;

/**
 * Returns the words of a file's name, as a text whose terms are looked for: the name as it is, which the analysis takes
 * apart at `_`, `-`, `.` and capitals, and the pieces of its parts in which letters and digits stand together.
 */
export function nameWords(filename: string): string {
  const name = filename.slice(0, MAX_UNITS).toWellFormed().normalize('NFC');
  const pieces = name.split(/[^\p{L}\p{N}\p{M}]+/u).flatMap((part) => {
    const apart = part.split(DIGIT_BORDER);
    return apart.length > 1 ? apart.filter((piece) => piece.length > 1) : [];
  });
  return [name, ...pieces].join(' ');
}
