/** The phase of an API process. It reports the phase in its health routes, and is ready for requests while `serving`. */
export type LifecyclePhase = 'starting' | 'serving' | 'stopping';
