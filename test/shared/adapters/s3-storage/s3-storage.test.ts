import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import {
  createS3Storage,
  type S3StorageOptions,
} from '../../../../src/shared/adapters/s3-storage/s3-storage.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import { MissingObjectError } from '../../../../src/shared/ports.js';
import { describeObjectStorage } from '../../../contracts/object-storage-contract.js';
import { collectGarbage } from '../../../support/collect-garbage.js';
import { startS3Proxy, type S3Proxy } from '../../../support/s3-proxy.js';
import { errorXml, S3_BUCKET, S3_KEYS, startTestS3, type TestS3 } from '../../../support/s3.js';
import { until } from '../../../support/until.js';

let s3: TestS3 | undefined;
let proxy: S3Proxy | undefined;
const leftBehind: unknown[] = [];

function started<Thing>(thing: Thing | undefined): Thing {
  if (!thing) throw new Error('not set up');
  return thing;
}
const server = () => started(s3);
const watched = () => started(proxy);

beforeAll(async () => {
  s3 = await startTestS3();
  proxy = await startS3Proxy(s3.endpoint);
});

afterEach(() => {
  watched().intervene(() => false);
});

afterAll(async () => {
  await watched().close();
  await server().stop();
});

function open(options: Partial<S3StorageOptions> = {}) {
  return createS3Storage({
    endpoint: watched().endpoint,
    region: 'us-east-1',
    bucket: S3_BUCKET,
    pathStyle: true,
    credentials: S3_KEYS,
    timeoutMilliseconds: 10_000,
    onLeftBehind: (error) => leftBehind.push(error),
    ...options,
  });
}

const direct = () => open({ endpoint: server().endpoint });

describeObjectStorage('an S3', direct);

const MEGABYTE = 1024 ** 2;

async function* megabytes(count: number, onEach: (number: number) => unknown = () => null) {
  for (let number = 0; number < count; number += 1) {
    await onEach(number);
    yield Buffer.alloc(MEGABYTE, number);
  }
}

describe('large objects', () => {
  test('120 MB are stored and read as they were, holding a small part in memory', async () => {
    const storage = direct();
    const [stored, read] = [createHash('sha256'), createHash('sha256')];
    let peak = 0;
    const external = () => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = external();
    let steps = 0;
    const measure = () => {
      steps += 1;
      if (steps % 160 === 0) peak = Math.max(peak, external() - before);
    };
    async function* source() {
      for (let number = 0; number < 480; number += 1) {
        measure();
        const bytes = randomBytes(256 * 1024);
        stored.update(bytes);
        yield await Promise.resolve(bytes);
      }
    }
    await storage.put('large/object', source());
    const object = await storage.open('large/object');
    expect(object.size).toBe(480 * 256 * 1024);
    for await (const bytes of object) {
      measure();
      read.update(bytes);
    }
    expect(read.digest('hex')).toBe(stored.digest('hex'));
    // A few parts of 5 MiB.
    expect(peak).toBeLessThan(80 * MEGABYTE);
    await storage.remove('large/object');
  });

  test.each([
    ['exactly a part', 5],
    ['exactly two', 10],
    ['a little more', 11],
  ])('an object of %s is whole', async (_, count) => {
    const storage = direct();
    await storage.put('parts', megabytes(count));
    let length = 0;
    for await (const bytes of await storage.open('parts')) length += bytes.length;
    expect(length).toBe(count * MEGABYTE);
    await storage.remove('parts');
  });

  test('a source that fails after some parts aborts the upload, whose parts S3 then drops', async () => {
    const aborts: string[] = [];
    watched().intervene(({ method, url }, response) => {
      if (method !== 'DELETE' || !url.includes('uploadId=')) return false;
      aborts.push(url);
      // In place of s3rver, which does not know this request.
      response.writeHead(204).end();
      return true;
    });
    const error = new Error('the client went away');
    const broken = megabytes(20, (number) => {
      if (number === 16) throw error;
    });
    await expect(open().put('broken', broken)).rejects.toBe(error);
    expect(aborts).toEqual([expect.stringMatching(/^\/quire-test\/broken\?.*uploadId=\w+/)]);
    await expect(open().open('broken')).rejects.toBeInstanceOf(MissingObjectError);
    expect(leftBehind).toEqual([]);
  });

  test('an abort that fails is told, and hides nothing', async () => {
    const error = new Error('the client went away');
    const broken = megabytes(20, (number) => {
      if (number === 16) throw error;
    });
    await expect(direct().put('broken', broken)).rejects.toBe(error);
    expect(leftBehind.splice(0)).toEqual([expect.any(UnavailableError)]);
  });

  test('an S3 that is killed in the middle is unavailable, shows nothing, and can be used again', async () => {
    const storage = direct();
    await storage.put('kept', megabytes(1));
    const killed = megabytes(30, (number) => (number === 14 ? server().crash() : null));
    await expect(storage.put('killed', killed)).rejects.toBeInstanceOf(UnavailableError);
    await expect(storage.open('kept')).rejects.toBeInstanceOf(UnavailableError);
    await expect(storage.remove('kept')).rejects.toBeInstanceOf(UnavailableError);
    await expect(storage.check()).rejects.toBeInstanceOf(UnavailableError);
    await server().start();
    await expect(storage.open('killed')).rejects.toBeInstanceOf(MissingObjectError);
    expect((await storage.open('kept')).size).toBe(MEGABYTE);
    await expect(storage.check()).resolves.toBeUndefined();
    leftBehind.splice(0);
  });
});

describe('trouble', () => {
  test.each([
    ['throttled', 503, 'SlowDown'],
    ['full', 507, 'InsufficientStorage'],
    ['over its quota', 403, 'QuotaExceeded'],
    ['broken', 500, 'InternalError'],
  ])('an S3 that is %s is unavailable', async (_, status, code) => {
    watched().intervene((asked, response, request) => {
      request.resume();
      response.writeHead(status, { 'content-type': 'application/xml' }).end(errorXml(code));
      return true;
    });
    const storage = open();
    await expect(storage.put('object', megabytes(1))).rejects.toBeInstanceOf(UnavailableError);
    await expect(storage.open('object')).rejects.toBeInstanceOf(UnavailableError);
    await expect(storage.check()).rejects.toBeInstanceOf(UnavailableError);
  });

  test('an S3 that never answers is given up in time, whatever it was asked', async () => {
    watched().intervene((asked, response, request) => {
      request.resume();
      return true;
    });
    const storage = open({ timeoutMilliseconds: 300 });
    const since = performance.now();
    const asked = [
      storage.put('object', megabytes(1)),
      storage.open('object'),
      storage.remove('object'),
      storage.check(),
    ];
    for (const each of await Promise.allSettled(asked)) {
      expect(each).toMatchObject({ status: 'rejected', reason: expect.any(UnavailableError) });
    }
    // A call that is not given up is waited for without end.
    expect(performance.now() - since).toBeLessThan(15_000);
  });

  test('a download on which S3 falls silent, or is cut off, ends with an error', async () => {
    const storage = open({ timeoutMilliseconds: 1_500 });
    await storage.put('half', megabytes(2));
    for (const end of ['silent', 'cut off']) {
      watched().intervene(({ method }, response) => {
        if (method !== 'GET') return false;
        response.writeHead(200, { 'content-length': String(2 * MEGABYTE) });
        response.write(Buffer.alloc(MEGABYTE));
        if (end === 'cut off') setTimeout(() => response.destroy(), 100);
        return true;
      });
      const object = await storage.open('half');
      const reading = async () => {
        for await (const _ of object);
      };
      await expect(reading()).rejects.toBeInstanceOf(UnavailableError);
    }
  });

  test('a slow reader is not taken for a silent S3', async () => {
    const storage = open({ timeoutMilliseconds: 1_000 });
    await storage.put('slow', megabytes(3));
    let length = 0;
    for await (const bytes of await storage.open('slow')) {
      if (length === 0) await sleep(1_500);
      length += bytes.length;
    }
    expect(length).toBe(3 * MEGABYTE);
  });

  test('a reader that stops early lets its connection go', async () => {
    const storage = open();
    await storage.put('early', megabytes(40));
    for await (const _ of await storage.open('early')) break;
    await until(() => watched().openAnswers() === 0);
  });

  test('a bucket that is gone is unavailable: it is not the object that is missing', async () => {
    const storage = open({ bucket: 'no-such-bucket' });
    await expect(storage.open('object')).rejects.toBeInstanceOf(UnavailableError);
    await expect(storage.put('object', megabytes(1))).rejects.toBeInstanceOf(UnavailableError);
    await expect(storage.check()).rejects.toBeInstanceOf(UnavailableError);
  });

  test('a check leaves nothing behind, and writes once a minute', async () => {
    const before = await server().keys();
    const storage = open();
    const since = watched().requests.length;
    for (let times = 0; times < 5; times += 1) await storage.check();
    const asked = watched().requests.slice(since);
    expect(asked.map(({ method }) => method)).toEqual([
      'PUT',
      'HEAD',
      'DELETE',
      ...Array<string>(4).fill('HEAD'),
    ]);
    expect(await server().keys()).toEqual(before);
  });
});
