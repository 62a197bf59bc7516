/** A download that did not come to its end, and may when it is tried again. */
export class TransferError extends Error {
  override readonly name = 'TransferError';
}
