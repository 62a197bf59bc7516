import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The rights of a group and of others to each file and folder in a folder, as bits of its mode. */
export async function modesIn(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder, { recursive: true });
  return await Promise.all(names.map(async (name) => (await stat(join(folder, name))).mode & 0o077));
}
