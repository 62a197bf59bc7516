import { z } from 'zod';
import { UnavailableError } from '../../errors.js';
import { toUnavailable, type Redis } from '../../redis/client.js';
import type { IndexDefinition } from './definition.js';

/** A value of FT.INFO, which is a number or text, depending on the version. */
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
  /** The share of the hashes that the index has taken in, from 0 to 1. */
  readonly share: number;
  /** `OK`, or the reason why the engine takes in no more hashes. */
  readonly progress: string;
  readonly prefixes: readonly string[];
  /** The facts that the engine reports about each field; some versions leave some out. */
  readonly fields: readonly z.infer<typeof infoSchema>['attributes'][number][];
  /** Hashes in the index. */
  readonly count: number;
  /** Hashes that could not be indexed since the index was made. */
  readonly failures: number;
  readonly lastFailure: { readonly reason: string; readonly key: string };
}

export type Engine = ReturnType<typeof createEngine>;

/** The commands about indexes. Expected errors of all known versions become answers. */
export function createEngine(client: Redis) {
  return {
    /** Describes an index by its name or an alias; null when there is none. */
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
    /** Creates an index, unless it exists. */
    create: async ({ name, prefix, schema }: IndexDefinition): Promise<void> => {
      // Offsets are left out, because no query asks where in a text a word stands.
      const told = { PREFIX: prefix, STOPWORDS: [], NOOFFSETS: true as const, NOHL: true as const };
      await orNull(client.ft.create(name, schema, { ON: 'HASH', ...told }), isThere);
    },
    /** Drops the index and keeps the hashes. */
    drop: async (name: string): Promise<void> => {
      await orNull(client.ft.dropIndex(name), isMissing);
    },
    names: (): Promise<string[]> => client.ft._list(),
    addAlias: async (alias: string, name: string): Promise<void> => {
      await orNull(client.ft.aliasAdd(alias, name), isThere);
    },
  };
}

/** Versions say `No such index x` (2.10), `x: no such index` (8) or `Unknown index name` (earlier). */
export function isMissing(error: unknown): boolean {
  return /no such index|unknown index name/i.test(messageOf(error));
}

const isThere = (error: unknown) => /already exists/i.test(messageOf(error));

/** Refuses a reply with warnings, since it is incomplete. @throws UnavailableError */
export function refuseWarnings(warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  throw new UnavailableError('index', { cause: new Error(warnings.join('; ')) });
}

/** Errors that pass: time limits, and cursors that another walk has taken or that were not read in time. */
const PASSING =
  /timeout limit was reached|index is being|failed to load|INDEX_CURSOR_LIMIT|too many cursors|cursor (?:not found|does not exist)/i;

/** Turns the errors of an index that cannot give a whole answer into an UnavailableError. */
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
