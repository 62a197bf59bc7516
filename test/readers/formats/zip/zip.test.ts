import { deflateRawSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { strFromU8, strToU8, zipSync } from 'fflate';
import { createReceiptWriter } from '../../../../src/readers/receipt/receipt-writer.js';
import { openZip } from '../../../../src/readers/formats/zip/zip.js';

const MEGABYTE = 1024 * 1024;
const open = (bytes: Uint8Array, limitBytes = MEGABYTE) => openZip(bytes, { limitBytes, what: 'test file' });
const textOf = (bytes: Uint8Array | undefined): string => strFromU8(bytes ?? new Uint8Array());

test('members are read by name, stored or deflated, whatever is in front of or behind the archive', () => {
  const archive = zipSync({
    'a/stored.txt': [strToU8('stored'), { level: 0 }],
    'größe.txt': strToU8('deflated '.repeat(9)),
  });
  const framed = Buffer.concat([Buffer.from('#!/bin/sh\n'), archive]);
  for (const bytes of [archive, framed]) {
    const zip = open(bytes);
    expect(zip.names).toEqual(['a/stored.txt', 'größe.txt']);
    expect(textOf(zip.read('a/stored.txt'))).toBe('stored');
    expect(textOf(zip.read('größe.txt'))).toBe('deflated '.repeat(9));
    expect(zip.read('missing')).toBeUndefined();
    expect(zip.has('constructor')).toBe(false);
  }
});

test('a member that inflates to more than the limit stops there, whatever the directory says of it', () => {
  const bomb = Buffer.from(zipSync({ bomb: new Uint8Array(64 * MEGABYTE) }));
  // The directory lies: it says that one byte comes out.
  bomb.writeUInt32LE(1, bomb.indexOf('PK\x01\x02', 0, 'latin1') + 24);
  expect(() => open(bomb).read('bomb')).toThrow(expect.objectContaining({ code: 'too_large' }));
  let largest = 0;
  expect(() => {
    for (const piece of open(bomb, 40 * MEGABYTE).pieces('bomb')) largest = Math.max(largest, piece.length);
  }).toThrow(expect.objectContaining({ code: 'too_large' }));
  expect(largest).toBeLessThan(20 * MEGABYTE);
});

test('members that are read again count once, but not without end', () => {
  const zip = open(zipSync({ most: new Uint8Array(0.875 * MEGABYTE) }));
  for (let times = 0; times < 4; times += 1) expect(zip.read('most')).toHaveLength(0.875 * MEGABYTE);
  expect(() => zip.read('most')).toThrow(expect.objectContaining({ code: 'too_large' }));
});

test('members that share their bytes count each, so that overlaps gain nothing', () => {
  const bytes = archive([
    { name: 'a', data: Buffer.alloc(0.75 * MEGABYTE) },
    { name: 'b', isAt: 'a' },
    { name: 'c', isAt: 'a' },
  ]);
  const zip = open(bytes);
  expect(zip.read('a')).toHaveLength(0.75 * MEGABYTE);
  expect(() => zip.read('b')).toThrow(expect.objectContaining({ code: 'too_large' }));
});

test('sizes in the local header, in the directory or in neither make no difference', () => {
  const data = Buffer.from('described '.repeat(100));
  for (const form of ['descriptor', 'wide', 'lying'] as const) {
    const zip = open(
      archive([
        { name: 'a', data, form },
        { name: 'b', data: Buffer.from('next') },
      ]),
    );
    expect(textOf(zip.read('a'))).toBe('described '.repeat(100));
    expect(textOf(zip.read('b'))).toBe('next');
  }
});

test('of members with one name the last is read, and the others are named', () => {
  const receipt = createReceiptWriter();
  const bytes = archive([
    { name: 'word/A.xml', data: Buffer.from('first') },
    { name: 'Word\\a.xml', data: Buffer.from('second') },
  ]);
  const zip = openZip(bytes, { limitBytes: MEGABYTE, what: 'test file', receipt, ignoresCase: true });
  expect(zip.names).toEqual(['word/a.xml']);
  expect(textOf(zip.read('WORD/a.xml'))).toBe('second');
  expect(receipt.findings().gaps).toMatchObject([
    { reason: 'unreadable', detail: 'Members that have the name of another are not read: 1.' },
  ]);
  expect(open(bytes).names).toEqual(['word/A.xml', 'Word/a.xml']);
});

test('a directory of too many members is refused', () => {
  const members = Array.from({ length: 100_001 }, (_, index) => ({ name: String(index), isAt: '0' }));
  expect(() => open(archive([{ name: '0', data: Buffer.from('x') }, ...members.slice(1)]))).toThrow(
    expect.objectContaining({ code: 'too_large' }),
  );
});

test('a member whose bytes are cut off is damaged, and others are read', () => {
  const bytes = archive([
    { name: 'a', data: Buffer.from('whole') },
    { name: 'b', isAt: 'a', isCut: true },
  ]);
  const zip = open(bytes);
  expect(textOf(zip.read('a'))).toBe('whole');
  expect(() => zip.read('b')).toThrow(expect.objectContaining({ code: 'corrupt' }));
});

test('an encrypted member is named so, and a damaged archive or member as damaged', () => {
  const archive = Buffer.from(zipSync({ a: strToU8('some text to be deflated, and deflated') }));
  const encrypted = Buffer.from(archive);
  const directory = archive.indexOf('PK\x01\x02', 0, 'latin1');
  encrypted.writeUInt16LE(1, directory + 8);
  expect(() => open(encrypted).read('a')).toThrow(expect.objectContaining({ code: 'encrypted' }));
  const damaged = Buffer.from(archive);
  damaged.fill(0xff, 31, directory);
  expect(() => open(damaged).read('a')).toThrow(expect.objectContaining({ code: 'corrupt' }));
  for (const bytes of [archive.subarray(0, directory), Buffer.from('PK\x03\x04'), Buffer.alloc(0)])
    expect(() => open(bytes)).toThrow(expect.objectContaining({ code: 'corrupt' }));
});

test('no cut or changed byte of an archive does worse than fail', () => {
  const archive = Buffer.from(
    zipSync({ a: strToU8('text '.repeat(20)), b: [strToU8('stored'), { level: 0 }] }),
  );
  for (let at = 0; at < archive.length; at += 1) {
    const changed = Buffer.from(archive);
    changed[at] = (changed[at] ?? 0) ^ 0xff;
    for (const bytes of [archive.subarray(0, at), changed])
      try {
        const zip = open(bytes);
        for (const name of zip.names) zip.read(name);
      } catch (error) {
        expect(error).toMatchObject({ name: 'ReadError' });
      }
  }
});

interface Member {
  readonly name: string;
  readonly data?: Buffer;
  /** The member whose bytes it says are its own. */
  readonly isAt?: string;
  /** True if it says to be longer than the archive. */
  readonly isCut?: boolean;
  /** The form of sizes: behind the data, in fields of 64 bits, or wrong in the local header. */
  readonly form?: 'descriptor' | 'wide' | 'lying';
}

/** Writes a zip archive by hand, as programs may. */
function archive(members: readonly Member[]): Buffer {
  const places = new Map<string, { offset: number; packed: Buffer }>();
  const local: Buffer[] = [];
  const directory: Buffer[] = [];
  let length = 0;
  for (const { name, data = Buffer.alloc(0), isAt, isCut = false, form } of members) {
    const place = places.get(isAt ?? '') ?? { offset: length, packed: deflateRawSync(data) };
    places.set(name, place);
    if (isAt === undefined) {
      const written = localMember(name, place.packed, form);
      local.push(written);
      length += written.length;
    }
    const size = place.packed.length + (isCut ? 1_000_000_000 : 0);
    directory.push(entry(name, { ...place, size, isWide: form === 'wide' }));
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(length, 16);
  return Buffer.concat([...local, listed, end]);
}

function localMember(name: string, packed: Buffer, form: Member['form']): Buffer {
  const header = Buffer.alloc(30);
  header.write('PK\u0003\u0004', 'latin1');
  header.writeUInt16LE(form === 'descriptor' ? 8 : 0, 6);
  header.writeUInt16LE(8, 8);
  header.writeUInt32LE(form === 'descriptor' ? 0 : form === 'lying' ? 3 : packed.length, 18);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([
    header,
    Buffer.from(name),
    packed,
    form === 'descriptor' ? Buffer.from('PK\u0007\u0008 sizes and sum', 'latin1') : Buffer.alloc(0),
  ]);
}

function entry(name: string, member: { offset: number; size: number; isWide: boolean }): Buffer {
  const header = Buffer.alloc(46);
  header.write('PK\u0001\u0002', 'latin1');
  header.writeUInt16LE(8, 10);
  header.writeUInt32LE(member.isWide ? 0xffff_ffff : member.size, 20);
  // The inflated size is a lie throughout.
  header.writeUInt32LE(member.isWide ? 0xffff_ffff : 1, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(member.isWide ? 28 : 0, 30);
  header.writeUInt32LE(member.isWide ? 0xffff_ffff : member.offset, 42);
  const extra = Buffer.alloc(member.isWide ? 28 : 0);
  if (member.isWide) {
    extra.writeUInt16LE(1, 0);
    extra.writeUInt16LE(24, 2);
    for (const [index, value] of [1, member.size, member.offset].entries())
      extra.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  }
  return Buffer.concat([header, Buffer.from(name), extra]);
}
