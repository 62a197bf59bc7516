import { z } from 'zod';
import type { Metadata } from '../../shared/document.js';
import { MAX_FILENAME_CHARACTERS } from '../../shared/documents/display-filename.js';
import { accessControlChange, accessControlMerge } from '../http/validation/access-lists.js';
import { nonBlankString, optionalNull } from '../http/validation/field-schemas.js';
import { metadata, metadataMerge } from '../http/validation/metadata.js';
import type { DocumentPatch } from '../services/documents/document-changes.js';
import { LIMITS } from './ingest/upload-fields.js';

const newName = nonBlankString({ max: MAX_FILENAME_CHARACTERS });
const replaced = (after: Metadata) => () => after;

export const patchBody = z
  .object({
    metadata: optionalNull(metadata)
      .transform((after): ChangeMetadata | undefined => after && replaced(after))
      .describe('Replaces all of the metadata.'),
    filename: optionalNull(newName)
      .transform((name): string | null | undefined => name)
      .describe('The new name, by whose words the document is found from then on.'),
    access_control: optionalNull(accessControlChange).describe(
      'Each list that is stated replaces the old one.',
    ),
  })
  .meta({
    id: 'DocumentPatch',
    description: 'The changes. Fields that are left out or null stay as they are.',
  });

export const mergePatchBody = z
  .object({
    metadata: metadataMerge
      .optional()
      .transform((change) => change)
      .describe('Changes the keys that are named, also within objects; null takes a key away.'),
    filename: newName
      .nullish()
      .transform((name) => name)
      .describe('The new name; null takes it away.'),
    access_control: accessControlMerge
      .optional()
      .transform((lists) => lists)
      .describe('Each list that is stated replaces the old one; null empties it.'),
  })
  .meta({
    id: 'DocumentMergePatch',
    description:
      'The changes (RFC 7396). Fields that are left out stay as they are, and null takes something away.',
  });

type ChangeMetadata = NonNullable<DocumentPatch['metadata']>;

/** The same fields have this many bytes at most beside an upload; the rest is room for the file name. */
export const PATCH_BODY_BYTES = LIMITS.metadata + LIMITS.access_control + 64 * 1024;
