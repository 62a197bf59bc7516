/** Our fields in the hash of a job, beside BullMQ's. They go with the job. */
export const jobMarks = {
  /** Deaths of workers, after the first one, while they ran this job alone. */
  deathsAlone: 'quire:deathsAlone',
  /** The number of times that the job's file has given its parser to another caller's. */
  gaveWay: 'quire:gaveWay',
  /** The reason for which the job was last put off. */
  waitsFor: 'quire:waitsFor',
} as const;

/** A job fails when this many worker processes have ended abnormally, or stopped answering, while they ran it. */
export const MAX_DEATHS = 3;
