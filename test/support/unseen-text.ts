import { expect } from '@jest/globals';
import type { FileFormat } from '../../src/readers/detection/formats.js';
import { readBlocks } from './read-blocks.js';

export const hiddenOf = (gaps: readonly string[]): string[] =>
  gaps.filter((gap) => gap.startsWith('hidden: '));

/**
 * Expects of a file that its word `Shown` is read, and `Canary` only where hidden text is.
 * @param kind what the receipt calls it, such as `6 characters of hidden text`
 * @returns the text of the file without it
 */
export async function expectUnseen(
  format: FileFormat,
  content: string | Uint8Array,
  kind: string,
): Promise<string> {
  const verb = kind.startsWith('1 ') ? 'was' : 'were';
  const dropped = await readBlocks(format, content, { hiddenText: 'drop' });
  expect(dropped.text).toContain('Shown');
  expect(dropped.text).not.toContain('Canary');
  expect(hiddenOf(dropped.gaps)).toEqual([`hidden: ${kind} ${verb} left out.`]);
  const flagged = await readBlocks(format, content, { hiddenText: 'flag' });
  expect(flagged.text).toContain('Canary');
  expect(hiddenOf(flagged.gaps)).toEqual([`hidden: ${kind} ${verb} read.`]);
  const kept = await readBlocks(format, content, { hiddenText: 'keep' });
  expect(kept.text).toContain('Canary');
  expect(hiddenOf(kept.gaps)).toEqual([]);
  return dropped.text;
}
