import type { Place } from '../../adapters/descriptor.js';
import type { Completer, Embedder, Reranker } from '../../ports.js';
import { completerOf, embedderOf, rerankerOf } from '../../settings/chosen-adapters.js';
import type { Settings } from '../../settings/schema.js';
import type { Role } from './role.js';

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
