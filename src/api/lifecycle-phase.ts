/** What an API process is doing. It reports the phase in its health routes, and is ready for requests while `serving`. */
export type LifecyclePhase = 'starting' | 'serving' | 'stopping';
