import type { Place } from '../../adapters/descriptor.js';
import { completers, embedders, rerankers } from '../../adapters/registry.js';
import type { Completer, Embedder, Reranker } from '../../ports.js';
import { completerOf, embedderOf, rerankerOf } from '../../settings/chosen-adapters.js';
import type { Settings } from '../../settings/schema.js';

/** The services of a model for Quire. */
export const ROLES = ['embedder', 'completer', 'reranker'] as const;
export type Role = (typeof ROLES)[number];

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

/** The adapters of the roles, each of which may be asked. */
export interface Adapters {
  readonly embedder: Embedder;
  readonly completer: Completer;
  readonly reranker: Reranker | null;
}

/** Asks a model something small. Resolves with the length of its vectors; null for a model that makes none. */
export type Probe = (signal: AbortSignal) => Promise<{ readonly dimensions: number | null }>;

const TEXT = 'Quire asks whether this model answers.';
/** Without a passage, a completer answers by itself. */
const PASSAGE = { documentId: 'quire', chunkNumber: 0, text: 'It answers: yes.' };
/** A model that thinks before it answers needs some tokens for that. */
const MAX_TOKENS = 512;

/** Probes of the models on other hosts. The builtin ones cannot fail, and a start has found local ones already. */
export function probesOf(settings: Pick<Settings, Role>, adapters: Adapters): Partial<Record<Role, Probe>> {
  const { embedder, completer, reranker } = adapters;
  const isOfProvider = (adapter: { readonly place: Place } | null) => adapter?.place.at === 'provider';
  return {
    ...(isOfProvider(embedderOf(settings)) && { embedder: probeEmbedder(embedder) }),
    ...(isOfProvider(completerOf(settings)) && { completer: probeCompleter(completer) }),
    ...(isOfProvider(rerankerOf(settings)) && reranker && { reranker: probeReranker(reranker) }),
  };
}

const probeEmbedder =
  (embedder: Embedder): Probe =>
  async (signal) => {
    const { vectors } = await embedder.embedQuery(TEXT, { signal });
    return { dimensions: vectors[0]?.length ?? null };
  };

const probeCompleter =
  (completer: Completer): Probe =>
  async (signal) => {
    const options = { signal, maxTokens: MAX_TOKENS, callerId: 'quire' };
    // The first piece of an answer is enough; the rest is not asked for.
    for await (const _event of completer.complete({ question: TEXT, passages: [PASSAGE] }, options)) break;
    return { dimensions: null };
  };

const probeReranker =
  (reranker: Reranker): Probe =>
  async (signal) => {
    await reranker.rerank(TEXT, [TEXT], { signal, callerId: 'quire' });
    return { dimensions: null };
  };
