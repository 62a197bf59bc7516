import { z } from 'zod';
import type { CacheBuildId } from '../../ports.js';

/**
 * The name of a state: it says whose it is, so that a state that nobody uses any more can be found.
 *
 * @param installation tells the caches of several installations apart that ask one process with local models
 */
export function stateIdOf(installation: string, { ownerId, name, build }: CacheBuildId): string {
  return JSON.stringify([installation, ownerId, name, build]);
}

const idSchema = z.tuple([z.string(), z.string(), z.string(), z.string()]);

/** Null for a state that is not of a named cache of this installation. */
export function parseStateId(installation: string, id: string): CacheBuildId | null {
  const [of, ownerId, name, build] = idSchema.safeParse(parseJson(id)).data ?? [];
  if (of !== installation || ownerId === undefined || name === undefined || build === undefined) return null;
  return { ownerId, name, build };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
