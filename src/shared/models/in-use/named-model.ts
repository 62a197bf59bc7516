/** The services of a model for Quire. */
export const ROLES = ['embedder', 'completer', 'reranker'] as const;
export type Role = (typeof ROLES)[number];

const DEFAULT_MODELS: Readonly<Record<Role, string>> = {
  embedder: 'text-embedding-3-small',
  completer: 'gpt-4o-mini',
  reranker: 'rerank-v3.5',
};

/** Returns the model of a provider that a setting names; where the setting is empty, the provider's default. */
export const namedModel = (role: Role, { model }: { readonly model: string }): string =>
  model === '' ? DEFAULT_MODELS[role] : model;
