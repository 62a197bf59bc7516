import { expect, test } from '@jest/globals';
import { strFromU8, strToU8, zipSync } from 'fflate';
import { openZip } from '../../../../../src/workers/parse/formats/zip/zip.js';

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

test('members that are read again count again', () => {
  const zip = open(zipSync({ half: new Uint8Array(MEGABYTE / 2 + 1) }));
  zip.read('half');
  expect(() => zip.read('half')).toThrow(expect.objectContaining({ code: 'too_large' }));
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
        expect(error).toMatchObject({ name: 'IngestError' });
      }
  }
});
