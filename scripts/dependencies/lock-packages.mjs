// Reads a lock file of npm (version 3) as what an installation without development packages takes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { licenceOf } from './licences.mjs';

const nameOf = (path) => path.replace(/^.*node_modules\//, '');
const askedBy = ({
  dependencies,
  optionalDependencies,
  peerDependencies,
  peerDependenciesMeta: meta = {},
}) => [
  ...Object.keys(Object.assign({}, dependencies, optionalDependencies)),
  ...Object.keys(peerDependencies ?? {}).filter((name) => meta[name]?.optional !== true),
];

/**
 * The packages of an installation for production, each name and version once, with the folders it is in. Names that
 * `overrides` gives to a package for a machine that nobody has are left out.
 */
export function productionPackages(folder) {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const ways = waysTo(packages);
  const found = new Map();
  for (const [path, entry] of Object.entries(packages)) {
    const name = nameOf(path);
    if (path === '' || entry.dev || (entry.name ?? name) !== name) continue;
    const id = `${name}@${entry.version}`;
    const known = found.get(id);
    if (known) known.paths.push(path);
    else
      found.set(id, {
        name,
        version: entry.version,
        licence: licenceOf(name, entry),
        way: ways.get(path),
        paths: [path],
      });
  }
  return [...found.values()];
}

/** The shortest way to each package: the packages that ask for one another, from one of package.json on. */
function waysTo(packages) {
  const { dependencies, optionalDependencies } = packages[''];
  const ways = new Map();
  let next = Object.keys(Object.assign({}, dependencies, optionalDependencies))
    .toSorted()
    .map((name) => [`node_modules/${name}`, []]);
  while (next.length > 0) {
    const asked = [];
    for (const [path, way] of next) {
      const entry = packages[path];
      if (!entry || ways.has(path)) continue;
      ways.set(path, way);
      for (const name of askedBy(entry).toSorted())
        asked.push([resolve(packages, path, name), way.concat(nameOf(path))]);
    }
    next = asked;
  }
  return ways;
}

/** The path at which Node.js finds a package that another asks for: within it, or in the folders above. */
function resolve(packages, from, name) {
  const path = `${from}${from === '' ? '' : '/'}node_modules/${name}`;
  if (path in packages || from === '') return path;
  return resolve(packages, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name);
}
