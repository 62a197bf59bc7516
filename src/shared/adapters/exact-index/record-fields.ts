import { documentSchema, type MatchableDocument } from '../../document.js';

const schema = documentSchema.pick({
  id: true,
  createdAt: true,
  readers: true,
  writers: true,
  admins: true,
  metadata: true,
  published: true,
  pending: true,
});

/** The fields of a record's hash that the mirror keeps. */
export const RECORD_FIELDS = [
  'createdAt',
  'readers',
  'writers',
  'admins',
  'metadata',
  'published',
  'pending',
] as const;

/** @param values JSON of the fields above, in their order @returns null when there is no such record (any more) */
export function parseRecord(id: string, values: readonly (string | null)[]): MatchableDocument | null {
  if (values[0] == null) return null;
  const fields = RECORD_FIELDS.map((name, i) => [name, parseJson(values[i] ?? 'null')]);
  const record = schema.parse({ id, ...Object.fromEntries(fields) });
  return { ...record, published: slim(record.published), pending: slim(record.pending) };
}

const parseJson = (text: string): unknown => JSON.parse(text);

/** Neither access nor filters look at these two long strings, of which there would be one a document. */
function slim(content: MatchableDocument['published']): MatchableDocument['published'] {
  return content && { ...content, storageKey: '', sha256: '' };
}
