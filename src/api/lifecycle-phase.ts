/** Where an API process is between its start and its end; it takes requests that count in the middle, and says so. */
export type Phase = 'starting' | 'serving' | 'stopping';
