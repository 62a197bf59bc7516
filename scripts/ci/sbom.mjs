// Writes the software bill of materials (CycloneDX) of an installation for production to dist/sbom.cdx.json, from
// package.json and the lock file alone, and checks that nothing of the lock file is missing. Arguments, for trials: the
// folder to read, and a file with a bill to check instead.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [root = dirname(dirname(dirname(fileURLToPath(import.meta.url)))), given] = process.argv.slice(2);
const production = withoutDevelopment();
const bill = given === undefined ? makeBill() : readFileSync(given, 'utf8');
const faults = faultsOf(JSON.parse(bill));
for (const fault of faults) console.log(`sbom: ${fault}`);
if (faults.length > 0) process.exitCode = 1;
else if (given === undefined) {
  const target = join(root, 'dist', 'sbom.cdx.json');
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, bill);
  console.log(`sbom: ${production.ids.size} packages in dist/sbom.cdx.json`);
}

/** The input of npm, without development packages: with them, `--omit dev` also leaves out packages that both kinds ask for. */
function withoutDevelopment() {
  const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));
  const description = read('package.json');
  const lock = read('package-lock.json');
  delete description.devDependencies;
  delete lock.packages[''].devDependencies;
  for (const [path, { dev }] of Object.entries(lock.packages)) if (dev) delete lock.packages[path];
  const ids = Object.entries(lock.packages)
    .filter(([path]) => path !== '')
    .map(([path, { name, version }]) => `${name ?? path.replace(/^.*node_modules\//, '')}@${version}`);
  return { description, lock, ids: new Set(ids) };
}

function makeBill() {
  const parent = mkdtempSync(join(tmpdir(), 'quire-sbom-'));
  // npm names the bill after the folder.
  const folder = join(parent, 'quire');
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), JSON.stringify(production.description));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(production.lock));
    if (existsSync(join(root, '.npmrc'))) copyFileSync(join(root, '.npmrc'), join(folder, '.npmrc'));
    const how = [
      '--sbom-format',
      'cyclonedx',
      '--sbom-type',
      'application',
      '--package-lock-only',
      '--offline',
    ];
    const { status, stdout, stderr } = spawnSync('npm', ['sbom', ...how], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
    return stdout;
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

function faultsOf({ bomFormat, specVersion, serialNumber, metadata, components = [], dependencies = [] }) {
  const found = [];
  if (bomFormat !== 'CycloneDX' || !/^1\.\d+$/.test(specVersion)) found.push('it is no CycloneDX 1.x');
  if (!/^urn:uuid:[0-9a-f-]{36}$/.test(serialNumber)) found.push('it has no serial number');
  if (metadata?.component?.name !== 'quire') found.push('it does not say what it is of');
  const references = new Set(components.map((component) => component['bom-ref']));
  if (references.size !== components.length) found.push('two components have one reference');
  const own = metadata?.component?.['bom-ref'];
  for (const { ref, dependsOn = [] } of dependencies)
    for (const each of [ref, ...dependsOn])
      if (each !== own && !references.has(each)) found.push(`it refers to ${each}, which it does not hold`);
  for (const { name, version, purl = '' } of components)
    if (!decodeURIComponent(purl).startsWith(`pkg:npm/${name}@${version}`))
      found.push(`${name} has the address ${purl}`);
  const held = new Set(components.map(({ name, version }) => `${name}@${version}`));
  return [...found, ...[...production.ids].filter((id) => !held.has(id)).map((id) => `it lacks ${id}`)];
}
