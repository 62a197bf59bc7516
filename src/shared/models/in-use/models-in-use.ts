import { embeddingFileOf } from '../../local-models/named-models.js';
import { modelsAddressesOf } from '../../local-models/processes/models-address.js';
import type { Settings } from '../../settings/schema.js';
import { namedModel, type Role } from './named-model.js';

/** The model that the settings name for a role. Holds no secret. */
export interface ModelInUse {
  readonly role: Role;
  readonly kind: Settings['embedder'] | Settings['reranker'];
  /** Null for a reranker that is not there. */
  readonly model: string | null;
  /**
   * The address at which it is asked, without login, query, fragment and possible keys in its path; null where it is asked
   * nothing, or its class knows the address.
   */
  readonly address: string | null;
}

export function modelsInUse(settings: Settings): Readonly<Record<Role, ModelInUse>> {
  const { embedder, embedding, completer, completion, reranker, reranking } = settings;
  const local = () => shownAddress(modelsAddressesOf(settings)[0].url);
  const embedderFile = embedder === 'local' ? embeddingFileOf(settings) : '';
  return {
    embedder: modelOf('embedder', embedder, { section: embedding, file: embedderFile, local }),
    completer: modelOf('completer', completer, { section: completion, file: completion.model, local }),
    reranker: modelOf('reranker', reranker, { section: reranking, file: reranking.model, local }),
  };
}

interface Named {
  /** The settings of the role. */
  readonly section: { readonly model: string; readonly baseUrl: string; readonly provider?: string };
  /** The name of a model on this machine. */
  readonly file: string;
  /** The address of the process with local models. */
  readonly local: () => string;
}

function modelOf(role: Role, kind: ModelInUse['kind'], { section, file, local }: Named): ModelInUse {
  switch (kind) {
    case 'none':
      return { role, kind, model: null, address: null };
    case 'builtin':
      return { role, kind, model: 'builtin', address: null };
    case 'openai':
    case 'http':
      return { role, kind, model: namedModel(role, section), address: shownAddress(section.baseUrl) };
    case 'local':
      return { role, kind, model: file, address: local() };
    case 'langchain':
      return { role, kind, model: `${section.provider ?? ''} ${section.model}`.trim(), address: null };
  }
}

/** Names of a path are shorter. Some gateways have a key there. */
const MAX_NAME_LENGTH = 20;

/** Returns an address without its parts that may be secret. */
export function shownAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  const names = pathname.split('/').map((name) => (name.length > MAX_NAME_LENGTH ? '…' : name));
  return origin + names.join('/').replace(/\/$/, '');
}
