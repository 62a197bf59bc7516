import { hash } from 'node:crypto';
import type { Scalar } from './parse.js';

/** Recent tags are remembered, since most documents have nearly the same: of their paths, their readers and their day. */
const MAX_REMEMBERED = 20_000;
const MAX_REMEMBERED_LENGTH = 128;
const remembered = new Map<string, string>();

/** Tags are hex only, so that nothing in a query needs escaping. */
export function tag(operator: string, path: string, type: string, value: Scalar): string {
  const named = JSON.stringify([operator, path, type, value]);
  const known = remembered.get(named);
  if (known !== undefined) return known;
  const made = hash('sha256', named, 'hex').slice(0, 24);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  if (named.length <= MAX_REMEMBERED_LENGTH) remembered.set(named, made);
  return made;
}
