import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '../system-error-code.js';

async function readSecret(path: string): Promise<string | null> {
  try {
    const secret = (await readFile(path, 'utf8')).trim();
    if (Buffer.byteLength(secret) >= 32) return secret;
    throw new Error(
      `${path} holds less than 32 bytes: remove it, and a new secret is made at the next start`,
    );
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function writeWhole(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Reads the JWT secret that dev mode keeps in the data folder (file `jwt-secret`, mode 0600), or makes it. When
 * several processes start together, one makes it and all read the same.
 */
export async function loadOrCreateSecret(dataDirectory: string): Promise<string> {
  const path = join(dataDirectory, 'jwt-secret');
  const existing = await readSecret(path);
  if (existing !== null) return existing;
  await mkdir(dataDirectory, { recursive: true });
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  await writeWhole(draft, `${randomBytes(32).toString('hex')}\n`);
  try {
    // Unlike a rename, a link never replaces a secret that another process has made meanwhile.
    await link(draft, path);
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  } finally {
    await unlink(draft);
  }
  const secret = await readSecret(path);
  if (secret === null) throw new Error(`${path} vanished while it was being made`);
  return secret;
}
