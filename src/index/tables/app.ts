/**
 * The types of the app that the index holds and hands back without looking inside: who asks (`principal`), who may read a
 * document (`access`), the properties that filters and orders look at (`fields`), and a filter.
 */
export interface AppTypes {
  /** The id is among the readers of a document, and is that of the owner by whose statistics terms are weighed. */
  readonly principal: { readonly id: string };
  readonly access: unknown;
  readonly fields: unknown;
  readonly filter: unknown;
}

/** The decisions of the app. None of them may change while an index is open. */
export interface AppRules<App extends AppTypes> {
  /** Called once for each access class and mask, and for changes. */
  readonly mayRead: (principal: App['principal'], access: App['access']) => boolean;
  /** The ids of everybody for whom `mayRead` may be true, each once. */
  readonly readersOf: (access: App['access']) => Iterable<string>;
  /** Called once for each mask. A filter is known by its JSON. */
  readonly compile: (filter: App['filter']) => CompiledFilter<App['fields']>;
}

export interface CompiledFilter<Fields> {
  readonly matches: (fields: Fields) => boolean;
  /** The number of conditions that a document is compared with. */
  readonly conditions: number;
  /** Estimate of the heap that it takes, rather too high than too low. */
  readonly bytes: number;
}

/** An order of lists. */
export interface Sort<Fields> {
  /** Names the order. */
  readonly key: string;
  /** Names the values that documents are placed by, which may be the same in several orders. */
  readonly field: string;
  /** True if the value of a document stays as long as the document does. */
  readonly isFixed: boolean;
  readonly valueOf: (fields: Fields) => string;
  readonly compare: (a: Placed, b: Placed) => number;
}

/** The place of a document in an order. */
export interface Placed {
  readonly id: string;
  readonly value: string;
}
