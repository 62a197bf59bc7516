import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { podman } from './podman.js';

const MAX_MEGABYTES = 250;
const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ dev: z.boolean().default(false) })),
});

/** @returns a line about what the image holds. @throws when it holds what it must not */
export async function inspectImage(image: string, base: string): Promise<string> {
  const size = async (name: string) =>
    Number(await podman('image', 'inspect', '--format', '{{.Size}}', name)) / 1e6;
  const beyond = Math.round((await size(image)) - (await size(base)));
  if (beyond > MAX_MEGABYTES) throw new Error(`the image is ${String(beyond)} MB larger than its base`);
  const user = await podman('image', 'inspect', '--format', '{{.User}}', image);
  if (['', 'root', '0'].includes(user)) throw new Error('the image runs as root');
  const mount = await podman('image', 'mount', image);
  try {
    const installers = ['apt', 'apt-get', 'dpkg', 'npm', 'npx', 'corepack', 'yarn'].join(' -o -name ');
    const found = await find(mount, ['bin', 'usr/bin', 'usr/local/bin'], installers);
    const { packages } = lockSchema.parse(JSON.parse(await readFile('package-lock.json', 'utf8')));
    const development = Object.keys(packages).filter(
      (path) => packages[path]?.dev === true && existsSync(join(mount, 'app', path)),
    );
    const unwanted = [...found, ...development];
    if (unwanted.length > 0) throw new Error(`the image holds ${unwanted.join(', ')}`);
  } finally {
    await podman('image', 'unmount', image);
  }
  return `image: ${String(beyond)} MB beyond its base, user ${user}, no package manager, no development packages`;
}

async function find(mount: string, folders: readonly string[], names: string): Promise<string[]> {
  const places = folders.map((folder) => `${mount}/${folder}/`);
  const { stdout } = await promisify(execFile)('find', [
    ...places,
    '-maxdepth',
    '1',
    '(',
    '-name',
    ...names.split(' '),
    ')',
  ]);
  return stdout.split('\n').filter((line) => line !== '');
}
