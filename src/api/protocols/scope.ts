import type { Principal } from '../../shared/access/access.js';
import { bothFilters, type Shared } from '../../shared/access/sharing.js';
import { NotFoundError } from '../../shared/errors.js';
import type { Filter } from '../../shared/filters/parse.js';
import type { Collections } from '../services/collections/collections.js';

/** The documents that a name of another protocol stands for, of those that the caller may read. */
export interface Scope {
  /** Null for no further condition. */
  readonly filter: Filter | null;
  /** The documents of others that belong to it; undefined where the setting decides. */
  readonly shared: Shared | undefined;
}

export const EVERYTHING: Scope = { filter: null, shared: undefined };
const NAMED: ReadonlyMap<string, Scope> = new Map([
  ['all', EVERYTHING],
  ['*', EVERYTHING],
  ['own', { filter: null, shared: 'own' }],
]);

/** Those who know what a name stands for. */
export interface ScopeParts {
  readonly collections: Pick<Collections, 'scope'>;
}

/**
 * Finds the documents that a model after its slash, a vector store or a knowledge of Dify names: `all` or `*` for all that the
 * caller may read, `own` for their own, or the id of a collection. Null where there is nothing of this name that the caller
 * may know of.
 */
export async function findScope(
  { collections }: ScopeParts,
  name: string,
  principal: Principal,
): Promise<Scope | null> {
  const named = NAMED.get(name);
  if (named) return named;
  try {
    return { filter: await collections.scope(name, principal), shared: undefined };
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
}

/** Documents that are in both. */
export function withinScope(scope: Scope, asked: Scope): Scope {
  const filter = bothFilters(scope.filter, asked.filter);
  return { filter, shared: scope.shared ?? asked.shared };
}

/** Documents that are in one of several scopes at least. */
export function anyScope([first, ...others]: readonly Scope[]): Scope {
  if (!first) return EVERYTHING;
  if (others.length === 0) return first;
  const all = [first, ...others];
  const filters = all.map(({ filter }) => filter).filter((filter) => filter !== null);
  const filter: Filter | null = filters.length === all.length ? { type: 'or', filters } : null;
  const isOwn = all.every(({ shared }) => shared === 'own');
  return { filter, shared: isOwn ? 'own' : undefined };
}
