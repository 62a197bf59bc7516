import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function onPath(name: string, env: Environment): string | null {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}
