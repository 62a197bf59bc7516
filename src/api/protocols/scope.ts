import type { Shared } from '../../shared/access/sharing.js';
import type { Filter } from '../../shared/filters/parse.js';

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

/**
 * Finds the documents that a model after its slash, a vector store or a knowledge of Dify names: `all` or `*` for all that the
 * caller may read, `own` for their own. Null where there is nothing of this name that the caller may know of.
 */
export function findScope(name: string): Promise<Scope | null> {
  return Promise.resolve(NAMED.get(name) ?? null);
}

/** Documents that are in both. */
export function withinScope(scope: Scope, asked: Scope): Scope {
  const filters = [scope.filter, asked.filter].filter((filter) => filter !== null);
  const [first = null] = filters;
  const filter: Filter | null = filters.length > 1 ? { type: 'and', filters } : first;
  return { filter, shared: scope.shared ?? asked.shared };
}
