import { toWellFormed } from '../../../shared/well-formed.js';

const MAX_CHARACTERS = 255;

/**
 * A file name that is safe to show: no folders, no control characters, none that change the direction of text, at
 * most 255 characters of which the extension stays. Null when nothing is left.
 */
export function displayFilename(name: string | null | undefined): string | null {
  const base = (name ?? '').replace(/^.*[/\\]/s, '');
  const visible = toWellFormed(base.replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, ''));
  const trimmed = visible.trim();
  return trimmed === '' || trimmed === '.' || trimmed === '..' ? null : shorten(trimmed);
}

function shorten(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= MAX_CHARACTERS) return name;
  const extension = Array.from(/\.[^.]{1,16}$/.exec(name)?.[0] ?? '');
  return [...characters.slice(0, MAX_CHARACTERS - extension.length), ...extension].join('');
}
