import { createReranker } from '../../shared/create-adapters.js';
import { createReranking, type Reranking, type RerankOutcome } from '../../shared/models/reranking.js';
import type { Logger } from '../../shared/observability/logger.js';
import type { Settings } from '../../shared/settings/schema.js';

/** Called with what became of reranking, and how long it took, which is null where it was not tried. */
export type OnReranked = (outcome: RerankOutcome, seconds: number | null) => void;

interface RerankingOptions {
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly onReranked: OnReranked;
}

/** Null without a reranker. */
export async function openReranking(
  settings: Settings,
  { logger, signal, onReranked }: RerankingOptions,
): Promise<Reranking | null> {
  const onWaiting = (error: Error) => logger.warn({ err: error }, 'waiting for local models');
  const reranker = await createReranker(settings, { signal, onWaiting });
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
