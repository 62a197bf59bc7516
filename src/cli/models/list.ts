import { at } from '../../shared/at.js';
import { createFingerprints, type Fingerprints } from '../../shared/local-models/fingerprints.js';
import {
  loadCrashesPath,
  pausedUntil,
  readLoadCrashes,
  type LoadCrash,
  type LoadCrashes,
} from '../../shared/local-models/load-crashes.js';
import { DamagedModelError, readModelHeader } from '../../shared/local-models/model-header.js';
import { listModelFiles, modelsDirectoryOf, type ModelFile } from '../../shared/local-models/model-files.js';
import { namedModels, type NamedModel } from '../../shared/local-models/named-models.js';
import { loadSettings, type Environment, type Settings } from '../../shared/settings/load.js';
import { listDrafts } from './pulling/drafts.js';
import { inMegabytes } from './megabytes.js';
import { asUserError } from './pull-errors.js';

const HEAD = ['NAME', 'KIND', 'MB', 'DIMENSIONS', 'WINDOW', 'FINGERPRINT', 'USED BY'];

/**
 * Returns the files of the models folder, as lines for a terminal. Reads the files themselves: no service has to run.
 * @throws UserError
 */
export async function list(env: Environment): Promise<string> {
  const settings = loadSettings(env, []);
  const directory = modelsDirectoryOf(settings);
  const named = namedModels(settings);
  try {
    const files = await listModelFiles(directory);
    const fingerprints = createFingerprints(directory);
    const crashes = await readLoadCrashes(loadCrashesPath(settings.dataDirectory));
    const rows: string[][] = [];
    // One after the other: a file whose fingerprint is not kept is read as a whole.
    for (const file of files) rows.push(await rowOf(file, settings, { named, fingerprints, crashes }));
    const missing = named.filter(({ name }) => files.every((file) => file.name !== name));
    const drafts = await listDrafts(directory);
    return [
      rows.length > 0 ? table([HEAD, ...rows]) : `There are no models in ${directory}: npx quire models pull`,
      ...drafts.map(
        ({ name, size, announced }) =>
          `${name}: ${inMegabytes(size)} of ${announced ? inMegabytes(announced.size) : '?'} MB are pulled; pull it again to go on`,
      ),
      ...(settings.models.urls.length === 0 ? missing.map(sayMissing) : []),
    ].join('\n');
  } catch (error) {
    throw asUserError(error, { directory, env, signal: new AbortController().signal });
  }
}

const sayMissing = ({ name, usedBy }: NamedModel) => `${name}: is not here, and ${usedBy} = "local" needs it`;

interface Known {
  readonly named: readonly NamedModel[];
  readonly fingerprints: Fingerprints;
  /** The crashes of the process that runs here with these settings. */
  readonly crashes: LoadCrashes;
}

async function rowOf(
  file: ModelFile,
  { models }: Settings,
  { named, fingerprints, crashes }: Known,
): Promise<string[]> {
  const users = named.filter(({ name }) => name === file.name).map(({ usedBy }) => usedBy);
  const size = inMegabytes(file.status.size);
  try {
    const { kind, dimensions, window } = await readModelHeader(file);
    const usable = Math.min(window, models.contextTokens);
    const fingerprint = await fingerprints.of(file);
    const notes = [...users, ...sayPause(crashes[fingerprint])].join(', ');
    return [file.name, kind, size, String(dimensions), String(usable), fingerprint, notes];
  } catch (error) {
    if (!(error instanceof DamagedModelError)) throw error;
    return [file.name, 'damaged', size, '', '', '', [...users, error.message].join(', ')];
  }
}

function sayPause(crash: LoadCrash | undefined): string[] {
  const until = crash && pausedUntil(crash);
  if (!until) return [];
  return [
    `ended the process ${String(crash.crashes)} times while it was loaded, not tried again before ${until.toISOString()}`,
  ];
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => at(row, column).length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(at(widths, column)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
