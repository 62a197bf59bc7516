// Chooses the test files that may notice a mutant.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { secondsOfFiles, sortTests } from '../../test/support/jest/sort-tests.mjs';

/** Tests of longer files would be run for too many mutants. */
const MAX_SECONDS = 10;

const imports = new Map();

/** Files that a file imports, but for its types. */
function importsOf(file) {
  if (imports.has(file)) return imports.get(file);
  const source = readFileSync(file, 'utf8');
  const found = [...source.matchAll(/^(?:import|export) (?!type\b)[^;]*?from '(\.[^']+)\.js'/gm)]
    .map(([, name]) => join(dirname(file), `${name}.ts`))
    .filter((each) => ts.sys.fileExists(each));
  imports.set(file, found);
  return found;
}

function reach(file, follows, seen = new Set()) {
  if (seen.has(file)) return seen;
  seen.add(file);
  if (follows(file)) for (const each of importsOf(file)) reach(each, follows, seen);
  return seen;
}

/** Tests of what indexes compute and of how files are read: they take long, and are about other rooms. */
const FAR = /\/test\/(?:shared\/adapters|workers\/parse)\//;
/** Tests of what is built on the rooms, but for the workers that write into them. */
const ABOVE = /\/test\/(?!shared\/|workers\/(?:ingestion|maintenance)\/)/;

/** Returns the folder of a room within src/ and test/: most are in shared/. */
export const folderOf = (room, root) =>
  existsSync(join(root, 'src/shared', room)) ? join('shared', room) : room;

/**
 * Test files without a process of the service that import a module of a room, themselves or by other files of test/.
 * @param isWide whether tests of what is built on the rooms are among them
 * @returns for each its path, the modules of the room that it imports so (`direct`), and whether it is the room's own
 */
export function testsOf(room, root, isWide) {
  const { pure, redis, long } = sortTests();
  const short = long.filter((path) => secondsOfFiles[relative(join(root, 'test'), path)] <= MAX_SECONDS);
  const folder = join(root, 'src', folderOf(room, root), '/');
  const own = join(root, 'test', folderOf(room, root), '/');
  const isNear = (path) => path.startsWith(own) || (!FAR.test(path) && (isWide || !ABOVE.test(path)));
  const near = [...pure, ...redis, ...short].filter(isNear);
  return near.flatMap((path) => {
    const reached = reach(path, (file) => file.startsWith(join(root, 'test/')));
    const direct = [...reached].filter((file) => file.startsWith(folder));
    const isOwn = path.startsWith(own);
    return direct.length > 0 || isOwn ? [{ path, direct, isOwn }] : [];
  });
}

/** Tells whether a test loads a module, by whatever way. */
export const loads = (path, module) => reach(path, () => true).has(module);
