/** Settings of the services that files share. Fewer kinds of them are fewer services to start. */

/** What most tests are about; each of the settings is read by some of them, and none minds. */
export const EVERYDAY = {
  // Not the default, so that tests see that it is read.
  QUIRE_SEARCH_HYBRID_WEIGHT: '0.25',
  // Small enough for documents that do not fit.
  QUIRE_COMPLETION_CONTEXT_WINDOW: '2048',
} as const;

/** Outside dev mode, with a queue board that may be written to. */
export const GUARDED = { QUIRE_DEV_MODE: 'false', QUIRE_ADMIN_QUEUES_READ_ONLY: 'false' } as const;
