import { hash } from 'node:crypto';
import type { Scalar } from './parse.js';

/** Recent tags are remembered, since most documents have nearly the same: of their paths, their readers and their day. */
const MAX_REMEMBERED = 20_000;
const MAX_REMEMBERED_LENGTH = 128;
const remembered = new Map<string, string>();

/**
 * Tags are hex only, so that nothing in a query needs escaping.
 * @param operator one character
 * @param type letters. Together with the operator it says whether the value is a text, a number or something else
 */
export function tag(operator: string, path: string, type: string, value: Scalar): string {
  // The length tells where the path ends, so that no two tags share a name. It is made sooner than JSON.
  const name = `${operator}${type}${String(path.length)}:${path}${String(value)}`;
  const known = remembered.get(name);
  if (known !== undefined) return known;
  const made = hash('sha256', JSON.stringify([operator, path, type, value]), 'hex').slice(0, 24);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  if (name.length <= MAX_REMEMBERED_LENGTH) remembered.set(name, made);
  return made;
}
