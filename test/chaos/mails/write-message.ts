import { createHash } from 'node:crypto';
import { strToU8 } from 'fflate';
import { writeMail } from '../../support/mail.js';
import type { Content } from '../contents.js';
import type { Random } from '../random.js';

/** A message, and its attachments. All of them hold the same marker. */
export interface Message extends Content {
  readonly carried: readonly Carried[];
}

export interface Carried {
  readonly name: string;
  readonly sha256: string;
  /** The attachments of a carried message. */
  readonly carried: readonly Carried[];
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Writes a message with up to four attachments, of which some are messages with attachments. */
export function writeMessage(random: Random, marker: string): Message {
  const { bytes, carried } = write(random, { marker, name: 'top', depth: 0 });
  const filename = `${marker}.eml`;
  return { kind: 'mail', marker, bytes, sha256: digestOf(bytes), filename, isReadable: true, carried };
}

function write(
  random: Random,
  { marker, name, depth }: { marker: string; name: string; depth: number },
): { bytes: Uint8Array; carried: Carried[] } {
  const files = Array.from({ length: random.whole(0, depth === 0 ? 4 : 2) }, (_, i) => {
    const inner = `${name}-${String(i)}`;
    // As a file: a part of the type of messages is read with the message around it.
    if (depth === 0 && random.chance(0.2)) {
      const { bytes, carried } = write(random, { marker, name: inner, depth: 1 });
      return { name: `${inner}.eml`, bytes, carried };
    }
    const bytes = strToU8(`In ${marker} the badger carries ${inner}.\n`);
    return { name: `${inner}.txt`, bytes, carried: [] };
  });
  const text = `In ${marker} the badger sends ${name}.`;
  const bytes = new Uint8Array(writeMail({ subject: `Of ${marker}`, text, files }));
  const carried = files.map((file) => ({
    name: file.name,
    sha256: digestOf(file.bytes),
    carried: file.carried,
  }));
  return { bytes, carried };
}
