import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

/** Peers are no dependencies of the project. These versions are measured and no others. */
const VERSIONS: Readonly<Record<string, string>> = {
  minisearch: '7.2.0',
  '@orama/orama': '3.1.18',
  'hnswlib-node': '3.0.0',
};

const folder = process.env['QUIRE_BENCH_PEERS'];

/** Loads a peer from the folder that `QUIRE_BENCH_PEERS` names. */
export function loadPeer(name: string): unknown {
  return createRequire(join(resolve(folder ?? '.'), 'package.json'))(name);
}

/** Names and versions of the peers that can be measured. Prints why others are skipped, and what installs them. */
export function findPeers(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, version] of Object.entries(VERSIONS)) {
    const problem = problemOf(name, version);
    if (problem === null) found.set(name, version);
    else console.log(`skipped: ${name} ${version}: ${problem}`);
  }
  console.log(`peers: ${[...found].map(([name, version]) => `${name} ${version}`).join(', ') || 'none'}`);
  if (found.size < Object.keys(VERSIONS).length) {
    const wanted = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`);
    const path = folder ?? '/some/folder';
    console.log(`npm install --prefix ${path} ${wanted.join(' ')}`);
    if (folder === undefined) console.log(`and QUIRE_BENCH_PEERS=${path}`);
  }
  return found;
}

function problemOf(name: string, version: string): string | null {
  if (folder === undefined) return 'QUIRE_BENCH_PEERS names no folder';
  const manifest = join(resolve(folder), 'node_modules', name, 'package.json');
  if (!existsSync(manifest)) return `it is not installed in ${folder}`;
  // @NOTE a package's manifest has its version
  const installed = (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
  if (installed !== version) return `${folder} has ${installed}`;
  try {
    loadPeer(name);
    return null;
  } catch (error) {
    return `it cannot be loaded: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`;
  }
}
