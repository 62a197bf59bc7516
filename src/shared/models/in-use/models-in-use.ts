import type { Place } from '../../adapters/descriptor.js';
import { completers, embedders, rerankers } from '../../adapters/registry.js';
import { completerOf, embedderOf, rerankerOf } from '../../settings/chosen-adapters.js';
import type { Settings } from '../../settings/schema.js';
import type { Role } from './role.js';

/** The kinds of models that the settings `embedder`, `completer` and `reranker` can name. */
export const MODEL_KINDS = [
  ...new Set([...embedders, ...completers, ...rerankers].map(({ name }) => name)),
  'none' as const,
];

/** The model that the settings name for a role. Holds no secret. */
export interface ModelInUse {
  readonly role: Role;
  readonly kind: (typeof MODEL_KINDS)[number];
  /** Null for a reranker that is not there. */
  readonly model: string | null;
  /**
   * The address at which it is asked, without login, query, fragment and possible keys in its path; null where it is asked
   * nothing, or its class knows the address.
   */
  readonly address: string | null;
}

export function modelsInUse(settings: Settings): Readonly<Record<Role, ModelInUse>> {
  return {
    embedder: modelOf('embedder', embedderOf(settings), settings),
    completer: modelOf('completer', completerOf(settings), settings),
    reranker: modelOf('reranker', rerankerOf(settings), settings),
  };
}

type Adapter = ReturnType<typeof embedderOf | typeof completerOf | typeof rerankerOf>;

function modelOf(role: Role, adapter: Adapter, settings: Settings): ModelInUse {
  if (!adapter) return { role, kind: 'none', model: null, address: null };
  const { model, address } = adapter.inUse(settings);
  return { role, kind: adapter.name, model, address: address === null ? null : shownAddress(address) };
}

const REGISTRIES = { embedder: embedders, completer: completers, reranker: rerankers };

/** Returns the place where a model in use runs; null for a reranker that is not there. */
export function placeOf({ role, kind }: Pick<ModelInUse, 'role' | 'kind'>): Place | null {
  const registry: readonly { readonly name: string; readonly place: Place }[] = REGISTRIES[role];
  return registry.find(({ name }) => name === kind)?.place ?? null;
}

/** Names of a path are shorter. Some gateways have a key there. */
const MAX_NAME_LENGTH = 20;

/** Returns an address without its parts that may be secret. */
export function shownAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  const names = pathname.split('/').map((name) => (name.length > MAX_NAME_LENGTH ? '…' : name));
  return origin + names.join('/').replace(/\/$/, '');
}
