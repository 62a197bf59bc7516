import type { Quotas } from '../documents/owned.js';
import type { Settings } from './schema.js';

const orNone = (most: number): number | null => (most === 0 ? null : most);

/** Returns the quotas of an owner, by the settings. */
export const quotasOf = ({ quota }: Pick<Settings, 'quota'>): Quotas => ({
  documents: orNone(quota.documents),
  bytes: orNone(quota.bytes),
  chunks: orNone(quota.chunks),
});
