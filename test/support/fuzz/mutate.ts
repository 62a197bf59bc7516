import { unzipSync, zipSync } from 'fflate';
import type { Random } from './random.js';

/** Most bytes of a file that is made by repeating ranges. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Bytes that many formats give a meaning to. */
const TELLING = Buffer.from('\0\u0001\u007f\u0080\u00ff\n\r\t "\'<>/&;=:,|#{}[]()\\-_.%0aAzZ9', 'latin1');

type Mutation = (bytes: Uint8Array, random: Random) => Uint8Array;

/** A range of at most `most` bytes. */
function rangeOf(bytes: Uint8Array, random: Random, most = 512): [start: number, end: number] {
  const start = random(bytes.length + 1);
  return [start, Math.min(bytes.length, start + 1 + random(most))];
}

const flipBytes: Mutation = (bytes, random) => {
  const flipped = Uint8Array.from(bytes);
  for (let left = 1 + random(16); left > 0; left -= 1) {
    const at = random(bytes.length);
    const isTelling = random(2) === 0;
    flipped[at] = isTelling ? (TELLING[random(TELLING.length)] ?? 0) : (flipped[at] ?? 0) ^ (1 << random(8));
  }
  return flipped;
};

/** Many formats keep sizes and counts in four bytes. */
const exaggerateNumber: Mutation = (bytes, random) => {
  const changed = Buffer.from(bytes);
  const numbers = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff, 0x0100_0000];
  const at = random(Math.max(1, changed.length - 4));
  if (changed.length >= 4) changed.writeUInt32LE(numbers[random(numbers.length)] ?? 0, at);
  return changed;
};

const cutEnd: Mutation = (bytes, random) => bytes.slice(0, random(bytes.length));

const leaveOut: Mutation = (bytes, random) => {
  const [start, end] = rangeOf(bytes, random);
  return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
};

const repeat: Mutation = (bytes, random) => {
  const [start, end] = rangeOf(bytes, random, 64);
  const range = bytes.subarray(start, end);
  const times = Math.min(2 ** random(16), Math.floor(MAX_BYTES / Math.max(1, range.length)));
  const copies = Array.from({ length: times }, () => range);
  return Buffer.concat([bytes.subarray(0, end), ...copies, bytes.subarray(end)]);
};

const swap: Mutation = (bytes, random) => {
  const positions = [...rangeOf(bytes, random), ...rangeOf(bytes, random)].sort((a, b) => a - b);
  const [a = 0, b = 0, c = 0, d = 0] = positions;
  const parts = [bytes.subarray(0, a), bytes.subarray(c, d), bytes.subarray(b, c), bytes.subarray(a, b)];
  return Buffer.concat([...parts, bytes.subarray(d)]);
};

/** Digits become others, and more: what counts, refers and measures in formats of text. */
const changeNumbers: Mutation = (bytes, random) => {
  const text = Buffer.from(bytes).toString('latin1');
  const numbers = ['0', '-1', '1', '4294967296', '999999999', '1e308', '2147483648', ''];
  const every = 1 + random(20);
  const changed = text.replace(/\d+/g, (digits) =>
    random(every) === 0 ? (numbers[random(numbers.length)] ?? '') : digits,
  );
  return Buffer.from(changed, 'latin1');
};

const MUTATIONS: readonly Mutation[] = [
  flipBytes,
  flipBytes,
  exaggerateNumber,
  cutEnd,
  leaveOut,
  repeat,
  swap,
  changeNumbers,
];

/** Returns the file with one to three changes. Most changes to an archive are made within one of its members. */
export function mutate(bytes: Uint8Array, random: Random): Uint8Array {
  const members = random(4) > 0 ? membersOf(bytes) : undefined;
  const names = Object.keys(members ?? {});
  const name = names[random(names.length)];
  if (members && name !== undefined)
    return zipSync({ ...members, [name]: mutateBytes(members[name] ?? bytes, random) }, { level: 1 });
  return mutateBytes(bytes, random);
}

function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array {
  let mutated = bytes;
  for (let left = 1 + random(3); left > 0; left -= 1) {
    const mutation = MUTATIONS[random(MUTATIONS.length)];
    if (mutation && mutated.length > 0) mutated = mutation(mutated, random);
  }
  return mutated;
}

/** The members of an archive, inflated; undefined for what is none. */
function membersOf(bytes: Uint8Array): Record<string, Uint8Array> | undefined {
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) return undefined;
  try {
    return unzipSync(bytes);
  } catch {
    // An archive that is damaged already is changed as it is.
    return undefined;
  }
}
