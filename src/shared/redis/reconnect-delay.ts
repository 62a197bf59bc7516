/** Milliseconds to wait before the next attempt to connect, which double from one attempt to the next up to a second. */
export const reconnectDelay = (attempts: number): number => Math.min(50 * 2 ** attempts, 1_000);
