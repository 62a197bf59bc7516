import { embeddingFileOf } from '../../local-models/named-models.js';
import { modelsAddressesOf } from '../../local-models/processes/models-address.js';
import type { Settings } from '../../settings/schema.js';
import { namedModel, type Role } from './named-model.js';

/** What the settings name for a role. Holds no secret. */
export interface ModelInUse {
  readonly role: Role;
  readonly kind: Settings['embedder'] | Settings['reranker'];
  /** Null for a reranker that is not there. */
  readonly model: string | null;
  /** Where it is asked, without login, query, fragment and what may be a key in its path; null where it is asked nothing, or its class knows the address. */
  readonly address: string | null;
}

export function modelsInUse(settings: Settings): Readonly<Record<Role, ModelInUse>> {
  return {
    embedder: embedderOf(settings),
    completer: completerOf(settings),
    reranker: rerankerOf(settings),
  };
}

/** Names of a path are shorter. Some gateways have a key there. */
const LONGEST_NAME = 20;

/** An address without what may be secret in it. */
export function shownAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  const names = pathname.split('/').map((name) => (name.length > LONGEST_NAME ? '…' : name));
  return origin + names.join('/').replace(/\/$/, '');
}

function embedderOf(settings: Settings): ModelInUse {
  const { embedder: kind, embedding } = settings;
  const common = { role: 'embedder', kind } as const;
  switch (kind) {
    case 'builtin':
      return { ...common, model: 'builtin', address: null };
    case 'openai':
      return {
        ...common,
        model: namedModel('embedder', embedding),
        address: shownAddress(embedding.baseUrl),
      };
    case 'local':
      return { ...common, ...local(settings), model: embeddingFileOf(settings) };
    case 'langchain':
      return { ...common, ...langChain(embedding) };
  }
}

function completerOf(settings: Settings): ModelInUse {
  const { completer: kind, completion } = settings;
  const common = { role: 'completer', kind } as const;
  switch (kind) {
    case 'builtin':
      return { ...common, model: 'builtin', address: null };
    case 'openai':
      return {
        ...common,
        model: namedModel('completer', completion),
        address: shownAddress(completion.baseUrl),
      };
    case 'local':
      return { ...common, ...local(settings), model: completion.model };
    case 'langchain':
      return { ...common, ...langChain(completion) };
  }
}

function rerankerOf(settings: Settings): ModelInUse {
  const { reranker: kind, reranking } = settings;
  const common = { role: 'reranker', kind } as const;
  switch (kind) {
    case 'none':
      return { ...common, model: null, address: null };
    case 'http':
      return {
        ...common,
        model: namedModel('reranker', reranking),
        address: shownAddress(reranking.baseUrl),
      };
    case 'local':
      return { ...common, ...local(settings), model: reranking.model };
  }
}

function local(settings: Settings) {
  const [{ url }] = modelsAddressesOf(settings);
  return { address: shownAddress(url) };
}

const langChain = ({ provider, model }: { readonly provider: string; readonly model: string }) => ({
  model: model === '' ? provider : `${provider} ${model}`,
  address: null,
});
