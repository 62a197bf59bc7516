import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { ModelFile } from './model-files.js';

/** The beginning of the SHA-256 of a model file, in hex. Two files of one name and different weights never share it. */
export type Fingerprint = string;

export interface Fingerprints {
  /** Reads the file once, and again after it has changed. */
  of(file: ModelFile): Promise<Fingerprint>;
}

/** 64 bits: enough to tell the files of one folder apart, and short in names of models. */
const FINGERPRINT_DIGITS = 16;
/** Beside the models, so that a file of some gigabytes is not read again by every process and at every start. */
const KEPT_FILE = '.fingerprints.json';

const keptSchema = z.record(z.string(), z.object({ stamp: z.string(), fingerprint: z.string() }));
type Kept = z.infer<typeof keptSchema>;

export function createFingerprints(directory: string): Fingerprints {
  const path = join(directory, KEPT_FILE);
  const known = new Map<string, { readonly stamp: string; readonly fingerprint: Promise<Fingerprint> }>();
  const find = async (file: ModelFile, stamp: string): Promise<Fingerprint> => {
    const kept = (await readKept(path))[file.name];
    if (kept?.stamp === stamp) return kept.fingerprint;
    const fingerprint = await hashFile(file);
    await keep(path, { [file.name]: { stamp, fingerprint } });
    return fingerprint;
  };
  return {
    of: (file) => {
      const stamp = stampOf(file);
      const entry = known.get(file.name);
      if (entry?.stamp === stamp) return entry.fingerprint;
      const fingerprint = find(file, stamp);
      known.set(file.name, { stamp, fingerprint });
      fingerprint.catch(() => known.delete(file.name));
      return fingerprint;
    },
  };
}

/** Returns a stamp that changes whenever a file is written or replaced. */
function stampOf({ status }: ModelFile): string {
  return [status.size, status.mtimeMs, status.ctimeMs, status.ino].join(' ');
}

async function hashFile(file: ModelFile): Promise<Fingerprint> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file.path, { highWaterMark: 1024 ** 2 }), hash);
  return hash.digest('hex').slice(0, FINGERPRINT_DIGITS);
}

/** Reads the kept fingerprints. An unreadable file counts as empty: it only saves time. */
async function readKept(path: string): Promise<Kept> {
  try {
    return keptSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return {};
  }
}

/** Two processes that write at once lose one of the entries, which is then made again. */
async function keep(path: string, entry: Kept): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, JSON.stringify({ ...(await readKept(path)), ...entry }), { mode: 0o600 });
    await rename(draft, path);
  } catch {
    // A folder that is read-only, or full: the next process reads the file again.
  }
}
