import { hash } from 'node:crypto';
import type { Scalar } from './parse.js';

/** Tags are hex only, so that nothing in a query needs escaping. */
export function tag(operator: string, path: string, type: string, value: Scalar): string {
  return hash('sha256', JSON.stringify([operator, path, type, value]), 'hex').slice(0, 24);
}
