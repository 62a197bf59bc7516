import { constants, deflateRawSync } from 'node:zlib';
import { zipSync } from 'fflate';

const STORED_LOCAL = { method: 8, size: 22 };
const STORED_CENTRAL = { method: 10, size: 24 };

interface Bomb {
  readonly name: string;
  readonly start: string;
  readonly megabytes: number;
  /** The other members of the zip. */
  readonly others?: Readonly<Record<string, Uint8Array>>;
}

/** A zip whose member claims to be a kilobyte large and inflates to `megabytes` of blanks behind `start`. */
export function zipBomb({ name, start, megabytes, others = {} }: Bomb): Uint8Array {
  const flush = { finishFlush: constants.Z_FULL_FLUSH };
  const megabyte = deflateRawSync(Buffer.alloc(1024 * 1024, ' '), flush);
  const data = Buffer.concat([
    deflateRawSync(start, flush),
    ...Array.from({ length: megabytes }, () => megabyte),
    Buffer.from([3, 0]),
  ]);
  const zip = Buffer.from(zipSync({ [name]: data, ...others }, { level: 0 }));
  const central = zip.indexOf('PK\u0001\u0002', 0, 'latin1');
  for (const [offset, { method, size }] of [
    [0, STORED_LOCAL],
    [central, STORED_CENTRAL],
  ] as const) {
    zip.writeUInt16LE(8, offset + method);
    zip.writeUInt32LE(1024, offset + size);
  }
  return zip;
}
