/** The services of a model for Quire. */
export const ROLES = ['embedder', 'completer', 'reranker'] as const;
export type Role = (typeof ROLES)[number];
