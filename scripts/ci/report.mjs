import { readFileSync } from 'node:fs';

/** A JSON report of jest; `undefined` when jest has not written one. */
export function readReport(path) {
  const text = readFileSync(path, 'utf8');
  return text === '' ? undefined : JSON.parse(text);
}
