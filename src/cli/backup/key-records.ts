/** A key of Redis as a backup holds it. */
export interface KeyRecord {
  readonly key: string;
  /** The time in ms at which it expires, by the clock of the Redis that it is from; 0 for never, as RESTORE has it. */
  readonly expiresAt: number;
  /** The output of DUMP for its value; null when there is no such key (any more). */
  readonly value: Buffer | null;
}

/** Lengths of the key and of the value in bytes, and the time. */
const HEAD_BYTES = 16;

/** Writes a record: a head of two lengths (u32) and a time (f64), the key, and the value. */
export function writeKeyRecord({ key, expiresAt, value }: KeyRecord): Buffer {
  const [name, content] = [Buffer.from(key), value ?? Buffer.alloc(0)];
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(name.length, 0);
  head.writeUInt32LE(content.length, 4);
  head.writeDoubleLE(expiresAt, 8);
  return Buffer.concat([head, name, content]);
}

/** Reads the records of a part. @throws RangeError for a part that ends within a record */
export function* readKeyRecords(part: Buffer): Iterable<KeyRecord> {
  let at = 0;
  const take = (bytes: number): Buffer => {
    if (at + bytes > part.length) throw new RangeError('a part of the backup ends within a key');
    at += bytes;
    return part.subarray(at - bytes, at);
  };
  while (at < part.length) {
    const head = take(HEAD_BYTES);
    const key = take(head.readUInt32LE(0)).toString();
    const bytes = head.readUInt32LE(4);
    yield { key, expiresAt: head.readDoubleLE(8), value: bytes === 0 ? null : take(bytes) };
  }
}
