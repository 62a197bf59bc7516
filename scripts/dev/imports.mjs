import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Matches static and dynamic imports, and files that are started as threads or processes. */
const REFERENCE = /(?:from|import|import\(|new URL\()\s*'(\.{1,2}\/[^']+)'/g;

/** Returns all files that a compiled file needs: itself and its direct and indirect imports. */
function filesOf(entry, seen = new Set()) {
  if (seen.has(entry) || !existsSync(entry)) return seen;
  seen.add(entry);
  if (!entry.endsWith('.js')) return seen;
  for (const [, name] of readFileSync(entry, 'utf8').matchAll(REFERENCE))
    filesOf(resolve(dirname(entry), name), seen);
  return seen;
}

/** Returns the names of the processes that use one of the changed files. */
export function touchedBy(changed, processes) {
  return processes
    .filter(({ entry }) => {
      const files = filesOf(entry);
      return changed.some((path) => files.has(path));
    })
    .map(({ name }) => name);
}
