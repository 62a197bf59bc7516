import { toWellFormed } from '../well-formed.js';

export const MAX_FILENAME_CHARACTERS = 255;

/**
 * Makes a file name safe to show: removes folders, control characters and characters that change the direction of text,
 * and shortens it to 255 characters with its extension. Null when nothing is left.
 */
export function displayFilename(name: string | null | undefined): string | null {
  if (name == null) return null;
  const base = name.replace(/^.*[/\\]/s, '');
  const visible = toWellFormed(base.replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, ''));
  const trimmed = visible.trim();
  return trimmed === '' || trimmed === '.' || trimmed === '..' ? null : shorten(trimmed);
}

function shorten(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= MAX_FILENAME_CHARACTERS) return name;
  const extension = Array.from(/\.[^.]{1,16}$/.exec(name)?.[0] ?? '');
  return [...characters.slice(0, MAX_FILENAME_CHARACTERS - extension.length), ...extension].join('');
}
