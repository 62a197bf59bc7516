import { z } from 'zod';
import { UnavailableError } from '../../errors.js';
import { toUnavailable, type Redis } from '../../redis/client.js';
import type { IndexDefinition } from './definition.js';

/** What FT.INFO tells; numbers come as numbers or text, depending on the version. */
const told = z.union([z.string(), z.number()]).transform(String).optional();
const infoSchema = z.object({
  index_name: z.string(),
  index_definition: z.object({ prefixes: z.array(z.string()) }),
  num_docs: z.coerce.number(),
  indexing: z.coerce.number(),
  percent_indexed: z.coerce.number(),
  hash_indexing_failures: z.coerce.number(),
  attributes: z.array(
    z.object({
      identifier: z.string(),
      type: told,
      SEPARATOR: told,
      algorithm: told,
      data_type: told,
      dim: told,
      distance_metric: told,
      M: told,
      ef_construction: told,
    }),
  ),
  'Index Errors': z
    .object({
      'last indexing error': z.string(),
      'last indexing error key': z.string(),
      'background indexing status': z.string(),
    })
    .partial()
    .optional(),
});

export interface IndexInfo {
  readonly name: string;
  readonly isComplete: boolean;
  /** The share of the hashes that it has taken in so far, from 0 to 1. */
  readonly share: number;
  /** `OK`, or what keeps the engine from taking in the rest. */
  readonly progress: string;
  readonly prefixes: readonly string[];
  /** What the engine tells of each field; not all versions tell all. */
  readonly fields: readonly z.infer<typeof infoSchema>['attributes'][number][];
  /** Hashes in it. */
  readonly count: number;
  /** Hashes that could not be indexed, since it was made. */
  readonly failures: number;
  readonly lastFailure: { readonly reason: string; readonly key: string };
}

export type Engine = ReturnType<typeof createEngine>;

/** The commands about indexes, with the errors of all known versions made into answers. */
export function createEngine(client: Redis) {
  return {
    /** Describes an index, by its name or an alias; null where there is none. */
    info: async (name: string): Promise<IndexInfo | null> => {
      const reply = await orNull(client.sendCommand(['FT.INFO', name]), isMissing);
      if (reply === null) return null;
      const info = infoSchema.parse(reply);
      const {
        'last indexing error': reason = '',
        'last indexing error key': key = '',
        'background indexing status': progress = 'OK',
      } = info['Index Errors'] ?? {};
      return {
        name: info.index_name,
        isComplete: info.indexing === 0 && info.percent_indexed >= 1,
        share: info.percent_indexed,
        progress,
        prefixes: info.index_definition.prefixes,
        fields: info.attributes,
        count: info.num_docs,
        failures: info.hash_indexing_failures,
        lastFailure: { reason, key },
      };
    },
    /** Does nothing where it is there already. */
    create: async ({ name, prefix, schema }: IndexDefinition): Promise<void> => {
      // Nobody asks where in a text a word stands.
      const told = { PREFIX: prefix, STOPWORDS: [], NOOFFSETS: true as const, NOHL: true as const };
      await orNull(client.ft.create(name, schema, { ON: 'HASH', ...told }), isThere);
    },
    /** Drops the index alone: the hashes stay. */
    drop: async (name: string): Promise<void> => {
      await orNull(client.ft.dropIndex(name), isMissing);
    },
    names: (): Promise<string[]> => client.ft._list(),
    addAlias: async (alias: string, name: string): Promise<void> => {
      await orNull(client.ft.aliasAdd(alias, name), isThere);
    },
  };
}

/** `No such index x` in 2.10, `x: no such index` in 8, `Unknown index name` before both. */
export function isMissing(error: unknown): boolean {
  return /no such index|unknown index name/i.test(messageOf(error));
}

const isThere = (error: unknown) => /already exists/i.test(messageOf(error));

/** A reply that is only a part of the truth is none. */
export function refuseWarnings(warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  throw new UnavailableError('index', { cause: new Error(warnings.join('; ')) });
}

/** A time limit; cursors that another walk took, or that were not read in time. */
const PASSING =
  /timeout limit was reached|index is being|failed to load|INDEX_CURSOR_LIMIT|too many cursors|cursor (?:not found|does not exist)/i;

/** What an index that cannot answer whole rejects with becomes an UnavailableError. */
export function toIndexUnavailable(error: unknown): unknown {
  if (isMissing(error) || PASSING.test(messageOf(error)))
    return new UnavailableError('index', { cause: error });
  return toUnavailable(error);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : '');

async function orNull<Reply>(
  reply: Promise<Reply>,
  isExpected: (error: unknown) => boolean,
): Promise<Reply | null> {
  try {
    return await reply;
  } catch (error) {
    if (isExpected(error)) return null;
    throw error;
  }
}
