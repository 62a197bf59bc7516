import { z } from 'zod';
import type { AccessLists } from '../../access.js';
import { documentSchema, metadataSchema, type MatchableDocument } from '../../document.js';

/** The fields of a record's hash that the mirror keeps; each is JSON. */
export const RECORD_FIELDS = [
  'createdAt',
  'readers',
  'writers',
  'admins',
  'metadata',
  'published',
  'pending',
] as const;

export interface ParsedRecord {
  /** Of contents, it holds what filters look at; the rest is the same for all. */
  readonly document: MatchableDocument;
  /** The same for the same access lists. */
  readonly accessKey: string;
  readonly published: { readonly generation: string; readonly chunkCount: number } | null;
}

/** Answers null for a record that does not exist (any more). @throws when it does not fit the schema */
export type ParseRecord = (id: string, values: readonly (string | null)[]) => ParsedRecord | null;

type Content = NonNullable<MatchableDocument['published']>;

const accessSchema = documentSchema.pick({ readers: true, writers: true, admins: true });
const contentSchema = documentSchema.shape.published
  .unwrap()
  .pick({ contentType: true, filename: true, generation: true, chunkCount: true })
  .nullable();
const CACHED = 10_000;

/** Most records share their access lists and the looks of their content: those are parsed and held once. */
export function createRecordParser(): ParseRecord {
  const accesses = new Map<string, AccessLists>();
  const contents = new Map<string, Content>();

  const parseAccess = (key: string): AccessLists =>
    remember(accesses, key, () => {
      const [readers, writers, admins] = z.tuple([z.string(), z.string(), z.string()]).parse(key.split('\n'));
      return accessSchema.parse({ readers: parse(readers), writers: parse(writers), admins: parse(admins) });
    });
  const slim = (content: { contentType: string; filename: string | null }): Content =>
    remember(contents, JSON.stringify([content.contentType, content.filename]), () => ({
      ...{
        version: 1,
        kind: 'file' as const,
        storageKey: '',
        sizeBytes: 0,
        sha256: '',
        createdAt: '',
        generation: null,
      },
      ...{ chunkCount: 0, tokenCount: 0, contentType: content.contentType, filename: content.filename },
    }));

  return (id, [createdAt, readers, writers, admins, metadata, published, pending]) => {
    if (createdAt == null) return null;
    // JSON has no line breaks of its own.
    const accessKey = `${readers ?? ''}\n${writers ?? ''}\n${admins ?? ''}`;
    const [shown, coming] = [parseContent(published), parseContent(pending)];
    const document = {
      ...{ id, ...parseAccess(accessKey), createdAt: z.string().parse(parse(createdAt)) },
      ...{ metadata: metadataSchema.parse(parse(metadata ?? '')) },
      ...{ published: shown && slim(shown), pending: coming && slim(coming) },
    };
    const { generation = null, chunkCount = 0 } = shown ?? {};
    return { document, accessKey, published: generation === null ? null : { generation, chunkCount } };
  };
}

const parse = (text: string): unknown => JSON.parse(text);

function parseContent(text: string | null | undefined) {
  return text == null || text === 'null' ? null : contentSchema.parse(parse(text));
}

function remember<Value>(cache: Map<string, Value>, key: string, make: () => Value): Value {
  const known = cache.get(key);
  if (known !== undefined) return known;
  if (cache.size >= CACHED) cache.clear();
  const value = make();
  cache.set(key, value);
  return value;
}
