/** What a model does for the service. */
export const ROLES = ['embedder', 'completer', 'reranker'] as const;
export type Role = (typeof ROLES)[number];
