import { z } from 'zod';
import type { CacheBuildId } from '../../ports.js';

/** The name of a state: it says whose it is, so that a state that nobody uses any more can be found. */
export function stateIdOf({ ownerId, name, build }: CacheBuildId): string {
  return JSON.stringify([ownerId, name, build]);
}

/** Null for a state that is not of a named cache. */
export function parseStateId(id: string): CacheBuildId | null {
  try {
    const [ownerId, name, build] = z.tuple([z.string(), z.string(), z.string()]).parse(JSON.parse(id));
    return { ownerId, name, build };
  } catch {
    return null;
  }
}
