/** Ends a stream that is read no further, and tells its producer why. @throws what the producer throws besides */
export async function leaveStream(iterator: AsyncIterator<unknown>, reason: unknown): Promise<void> {
  if (!iterator.throw) {
    await iterator.return?.();
    return;
  }
  try {
    await iterator.throw(reason);
  } catch (error) {
    // A generator that does not mind passes it on.
    if (error !== reason) throw error;
  }
}
