import type { Lease } from './answer-memory.js';

interface Reading<Value> {
  readonly read: () => Promise<Value>;
  readonly sizeOf: (value: Value) => number;
}

type Read<Value> = { readonly value: Value } | { readonly value: null; readonly bytes: number };

/** Reads something and takes room for it; where there is none, only its size is left of it. */
export async function readIfRoom<Value>(
  lease: Lease,
  { read, sizeOf }: Reading<Value>,
): Promise<Read<Value>> {
  const value = await read();
  const bytes = sizeOf(value);
  return lease.resize(bytes) ? { value } : { value: null, bytes };
}

/**
 * The same, but waits for room for as much, and reads again: meanwhile it holds nothing.
 * @throws UnavailableError when no room comes
 */
export async function readWithinMemory<Value>(
  lease: Lease,
  {
    read,
    sizeOf,
    signal,
    isSent,
  }: Reading<Value> & { readonly signal: AbortSignal; readonly isSent: boolean },
): Promise<Value> {
  for (;;) {
    const result = await readIfRoom(lease, { read, sizeOf });
    if (!('bytes' in result)) return result.value;
    await lease.exchange({ bytes: result.bytes, signal, isSent });
  }
}
