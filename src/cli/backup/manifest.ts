import { z } from 'zod';
import { MissingObjectError, type ObjectStorage } from '../../shared/ports.js';
import { documentOfSource, isObjectKey } from '../../shared/storage/sources.js';
import { UserError } from '../user-messages.js';
import { once, readAll } from './hashed.js';

/** The version of a backup's form. */
export const FORMAT = 1;

const partSchema = z.object({
  /** Its key in the place of the backup, which somebody else may have written. */
  name: z.string().refine(isObjectKey),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
/** A part of a backup, with the hash of its bytes as they are stored. */
export type Part = z.infer<typeof partSchema>;

const keyPartSchema = partSchema.extend({
  /** Bytes of its records, which are packed. Earlier versions did not say it. */
  unpacked: z.int().nonnegative().optional(),
});
/** A part with keys of Redis. */
export type KeyPart = z.infer<typeof keyPartSchema>;

/** The content of a backup. The manifest is written last, so that a backup which has one is whole. */
export const manifestSchema = z.object({
  format: z.literal(FORMAT),
  /** The moment, by the clock of Redis, at which the data was as it is here. */
  moment: z.iso.datetime(),
  /** The milliseconds for which writers waited for that. */
  waited: z.number().nonnegative(),
  /** The server that wrote the values. An older one cannot read them. */
  redis: z.string(),
  documents: z.int().nonnegative(),
  /** The keys of Redis, in the order in which they are restored; a later part overrides an earlier one. */
  keys: z.array(keyPartSchema),
  /** The list of the sources: a line of JSON for each, of this form. */
  sources: partSchema,
  /** Sources that records refer to and that the storage did not have. */
  missing: z.array(z.string()),
});
export type Manifest = z.infer<typeof manifestSchema>;

const MANIFEST = 'manifest.json';

/** The manifest of the backup that lies there; null for none. @throws UserError for one of another version */
export async function findManifest(place: ObjectStorage): Promise<Manifest | null> {
  try {
    const text = (await readAll(await place.open(MANIFEST))).toString();
    return manifestSchema.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof MissingObjectError) return null;
    throw new UserError(`The ${MANIFEST} of the backup cannot be read, or is of another version.`, {
      cause: error,
    });
  }
}

export const writeManifest = (place: ObjectStorage, manifest: Manifest): Promise<void> =>
  place.put(MANIFEST, once(Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)));

/**
 * A line of the list of sources. Its name is the source's key in the object storage, where nothing else may be written over: the
 * bucket may hold more than Quire's.
 */
export const sourceSchema = partSchema.extend({
  name: partSchema.shape.name.refine((name) => documentOfSource(name) !== null),
});

/** Returns the place of a source within the place of the backup. */
export const placeOfSource = (storageKey: string): string => `sources/${storageKey}`;

/** Returns the places of parts. Two backups into one place have other names, so that the one which ends last is whole. */
export const placesOf = (run: string) => ({
  /** With keys of Redis, by the number of the part from 1. */
  keys: (number: number): string => `keys/${run}/${String(number).padStart(6, '0')}.gz`,
  sourceList: `sources-${run}.jsonl`,
});
export type Places = ReturnType<typeof placesOf>;
