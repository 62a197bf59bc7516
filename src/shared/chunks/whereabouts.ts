import { z } from 'zod';
import { type Location, locationSchema } from '../../readers/index.js';

/** The place of a chunk in its file. */
export interface Whereabouts {
  /** Null where the format does not tell. */
  readonly location: Location | null;
  /** The headings over it, the outermost first. */
  readonly section: readonly string[];
}

export const NOWHERE: Whereabouts = { location: null, section: [] };

const storedSchema = z.object({
  location: locationSchema.nullable().default(null),
  section: z.array(z.string()).default([]),
});

/** Returns the form of it in the hash of a chunk; null for nothing. */
export function packWhereabouts({ location = null, section = [] }: Partial<Whereabouts>): string | null {
  if (location === null && section.length === 0) return null;
  return JSON.stringify({
    ...(location === null ? {} : { location }),
    ...(section.length === 0 ? {} : { section }),
  });
}

/**
 * Reads the place of a chunk. Chunks of earlier versions have none. An unreadable place must not keep a text from being
 * found.
 */
export function unpackWhereabouts(packed: string | null | undefined): Whereabouts {
  if (!packed) return NOWHERE;
  return storedSchema.safeParse(parsed(packed)).data ?? NOWHERE;
}

function parsed(packed: string): unknown {
  try {
    return JSON.parse(packed);
  } catch {
    return null;
  }
}
