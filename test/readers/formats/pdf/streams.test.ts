import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { inflatedStreams } from '../../../../src/readers/formats/pdf/judging/streams.js';
import { stream } from '../../../support/drawn-pdf.js';

const deflated = (data: Uint8Array): Buffer => stream('/Type/ObjStm/Filter/FlateDecode', deflateSync(data));

describe('the streams of a PDF', () => {
  test('are inflated by their kind, without those that are damaged', () => {
    const file = Buffer.concat([
      deflated(Buffer.from('first')),
      stream('/Type/ObjStm/Filter/FlateDecode', Buffer.from('damaged')),
      stream('', Buffer.from('BT ET')),
      deflated(Buffer.from('last')),
    ]);
    const texts = [...inflatedStreams(file, 'objects')].map(String);
    expect(texts).toEqual(['first', 'last']);
  });

  test('are not those of pictures and fonts, nor any of an encrypted file', () => {
    const content = stream('', Buffer.from('BT ET'));
    const others = ['/Subtype/Image', '/FontFile', '/Length1 5', '/Type/XRef'].map((entries) =>
      Buffer.concat([Buffer.from('1 0 obj'), stream(entries, Buffer.from('other'))]),
    );
    const file = Buffer.concat([...others, Buffer.from('2 0 obj'), content]);
    expect([...inflatedStreams(file, 'content')].map(String)).toEqual(['BT ET\n']);
    const encrypted = Buffer.concat([file, Buffer.from('<</Encrypt 5 0 R>>')]);
    expect([...inflatedStreams(encrypted, 'content')]).toEqual([]);
  });

  test('are inflated up to a limit, which those count for that are too large', () => {
    const bomb = deflated(Buffer.alloc(9 * 1024 * 1024));
    const end = deflated(Buffer.from('end'));
    const after = (bombs: number) => {
      const file = Buffer.concat([...Array.from({ length: bombs }, () => bomb), end]);
      return [...inflatedStreams(file, 'objects')].map(String);
    };
    expect(after(1)).toEqual(['too large', 'end']);
    expect(after(7).at(-1)).toBe('end');
    expect(after(8)).toEqual(Array.from({ length: 9 }, () => 'too large'));
  });
});
