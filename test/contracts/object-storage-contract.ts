import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { MissingObjectError, type ObjectStorage } from '../../src/shared/ports.js';

async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts);
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) {
    // Bytes of an upload arrive over time.
    await Promise.resolve();
    yield bytes.subarray(start, start + size);
  }
}

async function* failing(error: Error): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(randomBytes(70_000));
  throw error;
}

/** The contract of every ObjectStorage; `open` gives one, the same each time. */
export function describeObjectStorage(name: string, open: () => ObjectStorage): void {
  const newKey = () => `documents/${randomUUID()}/1`;

  describe(`${name} as object storage`, () => {
    test.each([
      ['nothing', 0],
      ['one byte', 1],
      ['a buffer', 65_536],
      ['a byte more', 65_537],
      ['more than a buffer', 3_000_001],
    ])('gives back what was put: %s', async (_, size) => {
      const storage = open();
      const key = newKey();
      const bytes = randomBytes(size);
      await storage.put(key, inPieces(bytes, 50_000));
      const object = await storage.open(key);
      expect(object.size).toBe(size);
      const digest = (data: Buffer) => createHash('sha256').update(data).digest('hex');
      expect(digest(await collect(object))).toBe(digest(bytes));
    });

    test('putting again under a key replaces the object', async () => {
      const storage = open();
      const key = newKey();
      await storage.put(key, inPieces(Buffer.from('a longer first text'), 4));
      await storage.put(key, inPieces(Buffer.from('second'), 4));
      const object = await storage.open(key);
      expect(object.size).toBe(6);
      expect((await collect(object)).toString()).toBe('second');
    });

    test('a source that fails leaves nothing and rejects with its own error', async () => {
      const storage = open();
      const key = newKey();
      const error = new Error('the client went away');
      await expect(storage.put(key, failing(error))).rejects.toBe(error);
      await expect(storage.open(key)).rejects.toBeInstanceOf(MissingObjectError);
    });

    test('a source that fails leaves the object that was there', async () => {
      const storage = open();
      const key = newKey();
      await storage.put(key, inPieces(Buffer.from('kept'), 4));
      await expect(storage.put(key, failing(new Error('broken off')))).rejects.toThrow('broken off');
      expect((await collect(await storage.open(key))).toString()).toBe('kept');
    });

    test('an unknown object is missing', async () => {
      await expect(open().open(newKey())).rejects.toBeInstanceOf(MissingObjectError);
    });

    test('a removed object is missing, and removing it again is no error', async () => {
      const storage = open();
      const key = newKey();
      await storage.put(key, inPieces(Buffer.from('text'), 4));
      await storage.remove(key);
      await storage.remove(key);
      await expect(storage.open(key)).rejects.toBeInstanceOf(MissingObjectError);
    });

    test('objects under one prefix come and go beside each other', async () => {
      const storage = open();
      const folder = `documents/${randomUUID()}`;
      const life = async (number: number) => {
        const key = `${folder}/${String(number)}`;
        await storage.put(key, inPieces(Buffer.from(key), 8));
        expect((await collect(await storage.open(key))).toString()).toBe(key);
        await storage.remove(key);
      };
      await Promise.all(Array.from({ length: 40 }, (_, number) => life(number)));
    });

    test.each([
      '',
      '/',
      '.',
      '..',
      '../x',
      'a/../b',
      'a/./b',
      '/etc/passwd',
      'a//b',
      'a/',
      'a\\b',
      'a b',
      'ä',
      'a\0b',
      `a/${'x'.repeat(300)}`,
    ])('the key %j is refused everywhere', async (key) => {
      const storage = open();
      await expect(storage.put(key, inPieces(Buffer.from('x'), 1))).rejects.toThrow('invalid object key');
      await expect(storage.open(key)).rejects.toThrow('invalid object key');
      await expect(storage.remove(key)).rejects.toThrow('invalid object key');
    });

    test('its check passes while it works', async () => {
      await expect(open().check()).resolves.toBeUndefined();
    });

    test('an object that is opened and never read holds nothing back', async () => {
      const storage = open();
      const key = newKey();
      await storage.put(key, inPieces(Buffer.from('text'), 4));
      const object = await storage.open(key);
      await storage.remove(key);
      await expect(collect(object)).rejects.toBeInstanceOf(MissingObjectError);
    });
  });
}
