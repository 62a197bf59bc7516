/** Our fields in the hash of a job, beside those of BullMQ. They go with the job. */
export const jobMarks = {
  /** Deaths of workers, after the first one, while they ran this job alone. */
  deathsAlone: 'quire:deathsAlone',
  /** How often the file that the job reads has given its parser to another caller's. */
  gaveWay: 'quire:gaveWay',
  /** What the job was put off for when it last was. */
  waitsFor: 'quire:waitsFor',
} as const;

/** A job fails when this many worker processes have ended abnormally, or stopped answering, while they ran it. */
export const MAX_DEATHS = 3;
