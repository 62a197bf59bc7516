const FIRST_BYTES = 4096;

/**
 * Gathers bytes that arrive in pieces in one buffer, which doubles when it is full. A client may send a body in pieces of
 * one byte, and a list of the pieces would take about two hundred bytes for each.
 */
export class GatheredBytes {
  #held = Buffer.alloc(0);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(piece: Uint8Array): void {
    const size = this.#size + piece.length;
    if (size > this.#held.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * this.#size, size));
      this.#held.copy(larger, 0, 0, this.#size);
      this.#held = larger;
    }
    this.#held.set(piece, this.#size);
    this.#size = size;
  }

  /** The bytes that were added so far. The buffer may change when more are added. */
  get bytes(): Buffer {
    return this.#held.subarray(0, this.#size);
  }

  clear(): void {
    this.#held = Buffer.alloc(0);
    this.#size = 0;
  }
}
