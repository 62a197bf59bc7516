import { cleanText } from './clean-text.js';

/** Most UTF-16 units of the name of a sheet or chapter. Files may give names of any length, and each chunk holds one. */
const MAX_CHARACTERS = 200;

interface Names {
  readonly sheet?: string | undefined;
  readonly chapter?: string | undefined;
}

/** Returns the names of a place, cut to the length that every chunk may hold. */
export function boundedNames({ sheet, chapter }: Names): { sheet?: string; chapter?: string } {
  return {
    ...(sheet === undefined ? {} : { sheet: cut(sheet) }),
    ...(chapter === undefined ? {} : { chapter: cut(chapter) }),
  };
}

const cut = (name: string): string => cleanText(name.slice(0, MAX_CHARACTERS), false);
