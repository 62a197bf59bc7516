// Compares the versions of Node.js that package.json promises with those that each package of the lock file runs on.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import semver from 'semver';

/** A sentence for each package that npm would warn of (EBADENGINE) on a version that is promised. */
export function narrowerEngines(folder) {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const promised = packages['']?.engines?.node;
  if (promised === undefined) return [];
  return Object.entries(packages)
    .filter(([, { engines }]) => engines?.node !== undefined && !semver.subset(promised, engines.node))
    .map(
      ([path, { version, engines }]) =>
        `${path.replace(/^.*node_modules\//, '')} ${version} runs on Node.js ${engines.node}, which is less than ${promised}`,
    );
}
