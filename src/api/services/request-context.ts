/** Who asks for a change, since when, and how long they wait for it to be done. It holds on to nothing of what they sent. */
export interface RequestContext {
  readonly callerId: string;
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Null: as long as the service lets callers wait who do not say. */
  readonly waitSeconds: number | null;
  /** Aborts when the caller goes away. */
  readonly signal: AbortSignal;
}
