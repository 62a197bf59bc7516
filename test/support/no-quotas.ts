import { NO_QUOTAS } from '../../src/shared/documents/counts.js';

/** For routes that tell what callers own, where nobody owns anything. */
export const noQuotas = {
  quotas: NO_QUOTAS,
  owned: () => Promise.resolve({ documents: 0, bytes: 0, chunks: 0 }),
};
