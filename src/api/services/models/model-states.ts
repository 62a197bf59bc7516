import { setTimeout as sleep } from 'node:timers/promises';
import { explainFailure } from '../../../shared/models/in-use/explain-failure.js';
import {
  ROLES,
  type ModelInUse,
  type Role,
  type Probe,
} from '../../../shared/models/in-use/models-in-use.js';
import type { Logger } from '../../../shared/observability/logger.js';

/** `unasked` is a model that is not probed: a builtin or local one, or any where `api.probe_models` is off. */
export type ProbeState = 'unasked' | 'probing' | 'answers' | 'failing';

export interface ModelState extends ModelInUse {
  /** Length of the vectors of an embedder; null before it is known, and for others. */
  readonly dimensions: number | null;
  readonly state: ProbeState;
  /** The reason why it fails, and which setting to change; null otherwise. */
  readonly problem: string | null;
}

export type ModelStates = Readonly<Record<Role, ModelState>>;

interface WatchOptions {
  readonly used: Readonly<Record<Role, ModelInUse>>;
  readonly probes: Partial<Record<Role, Probe>>;
  /** Length of the vectors in the data; null before there are any. */
  readonly dimensions: number | null;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Ends all probes. */
  readonly signal: AbortSignal;
  readonly patienceMilliseconds?: number;
  readonly firstPauseMilliseconds?: number;
}

const PATIENCE_MILLISECONDS = 60_000;
const FIRST_PAUSE_MILLISECONDS = 15_000;
const MAX_PAUSE_MILLISECONDS = 300_000;

/**
 * Logs which models are in use, and probes them in the background: once, or until they answer for the first time. Nothing
 * waits for that. @returns the known states of them now
 */
export function watchModels(options: WatchOptions): () => ModelStates {
  const { used, probes, dimensions, logger } = options;
  const beginning = (role: Role): ModelState => ({
    ...used[role],
    dimensions: role === 'embedder' ? dimensions : null,
    state: probes[role] ? 'probing' : 'unasked',
    problem: null,
  });
  const states: Record<Role, ModelState> = {
    embedder: beginning('embedder'),
    completer: beginning('completer'),
    reranker: beginning('reranker'),
  };
  for (const role of ROLES) {
    const { kind, model, address } = used[role];
    const length = states[role].dimensions;
    logger.info(
      { role, kind, model, address, ...(length !== null && { dimensions: length }) },
      'model in use',
    );
    const probe = probes[role];
    const note = (found: Partial<ModelState>) => {
      states[role] = { ...states[role], ...found };
    };
    if (probe) void untilItAnswers(probe, used[role], { ...options, note });
  }
  return () => ({ ...states });
}

interface Watch extends WatchOptions {
  readonly note: (found: Partial<ModelState>) => void;
}

async function untilItAnswers(probe: Probe, used: ModelInUse, watch: Watch): Promise<void> {
  const { signal, logger, note } = watch;
  const { patienceMilliseconds = PATIENCE_MILLISECONDS } = watch;
  let pause = watch.firstPauseMilliseconds ?? FIRST_PAUSE_MILLISECONDS;
  let told: string | null = null;
  const { role, kind, model, address } = used;
  const isOver = () => signal.aborted;
  while (!isOver()) {
    try {
      const { dimensions } = await probe(
        AbortSignal.any([signal, AbortSignal.timeout(patienceMilliseconds)]),
      );
      note({ state: 'answers', problem: null, ...(dimensions !== null && { dimensions }) });
      logger.info({ role, kind, model, address, dimensions }, 'model answers');
      return;
    } catch (error) {
      if (isOver()) return;
      const problem = explainFailure(error, used);
      note({ state: 'failing', problem });
      if (problem !== told) logger.warn({ role, kind, model, address, problem, err: error }, 'model fails');
      told = problem;
    }
    await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
    pause = Math.min(2 * pause, MAX_PAUSE_MILLISECONDS);
  }
}
