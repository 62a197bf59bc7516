import { createReranking, type Reranking, type RerankOutcome } from '../../shared/models/reranking.js';
import type { Logger } from '../../shared/observability/logger.js';
import type { Reranker } from '../../shared/ports.js';
import type { Settings } from '../../shared/settings/schema.js';

/** Called with the outcome of a reranking and its duration, which is null where it was not tried. */
export type OnReranked = (outcome: RerankOutcome, seconds: number | null) => void;

interface RerankingOptions {
  readonly logger: Logger;
  readonly onReranked: OnReranked;
}

/** Null without a reranker. */
export function openReranking(
  settings: Settings,
  reranker: Reranker | null,
  { logger, onReranked }: RerankingOptions,
): Reranking | null {
  if (!reranker) return null;
  const { candidates, deadlineMilliseconds } = settings.reranking;
  return createReranking(reranker, {
    candidates,
    deadlineMilliseconds,
    onOutcome: onReranked,
    onFailure: (error, reason) => {
      logger.warn({ err: error, reason }, 'hits were not reranked');
    },
  });
}
