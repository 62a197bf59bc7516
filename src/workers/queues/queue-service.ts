import type { LaneName } from '../../shared/queues/lanes.js';
import type { SweepSchedule } from '../maintenance/sweep/schedule.js';
import type { JobHandler } from '../lane-worker.js';

/** The jobs of one lane and how they are run. */
export interface LaneService {
  readonly lane: LaneName;
  readonly handlers: Readonly<Record<string, JobHandler>>;
  readonly concurrency: number;
}

/** The jobs of one queue and how they are run. */
export interface QueueService {
  readonly lanes: readonly LaneService[];
  readonly sweepSchedule?: SweepSchedule;
  /** Called when no job is running any more. */
  readonly close?: () => Promise<void>;
}
