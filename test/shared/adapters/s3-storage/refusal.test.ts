import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import {
  createS3Storage,
  type S3StorageOptions,
} from '../../../../src/shared/adapters/s3-storage/s3-storage.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import { freePort } from '../../../support/redis.js';
import { startS3Proxy, type S3Proxy } from '../../../support/s3-proxy.js';
import { errorXml, S3_BUCKET, S3_KEYS, startTestS3, type TestS3 } from '../../../support/s3.js';

let s3: TestS3;
let proxy: S3Proxy;

beforeAll(async () => {
  s3 = await startTestS3();
  proxy = await startS3Proxy(s3.endpoint);
});

afterEach(() => {
  proxy.intervene(() => false);
});

afterAll(async () => {
  await proxy.close();
  await s3.stop();
});

function open(options: Partial<S3StorageOptions> = {}) {
  return createS3Storage({
    endpoint: proxy.endpoint,
    region: 'us-east-1',
    bucket: S3_BUCKET,
    pathStyle: true,
    credentials: S3_KEYS,
    timeoutMilliseconds: 10_000,
    onLeftBehind: () => undefined,
    ...options,
  });
}

describe('settings that S3 refuses', () => {
  test('none when all is well', async () => {
    expect(await open().findRefusal()).toBeNull();
  });

  test.each([
    [
      'an unknown key',
      { credentials: { ...S3_KEYS, accessKeyId: 'nobody' } },
      'credentials',
      'InvalidAccessKeyId',
    ],
    ['a missing bucket', { bucket: 'no-such-bucket' }, 'bucket', 'NoSuchBucket'],
  ])('%s', async (_, options, about, code) => {
    expect(await open(options).findRefusal()).toEqual({ about, code });
  });

  test.each([
    // In place of s3rver, which does not verify signatures of version 4.
    [403, 'SignatureDoesNotMatch', { about: 'credentials', code: 'SignatureDoesNotMatch' }],
    [403, 'AccessDenied', { about: 'credentials', code: 'AccessDenied' }],
    [301, 'PermanentRedirect', { about: 'region', code: 'PermanentRedirect' }],
    [400, 'AuthorizationHeaderMalformed', { about: 'region', code: 'AuthorizationHeaderMalformed' }],
    [404, 'NotHere', { about: 'endpoint', code: '404 NotHere' }],
    [503, 'SlowDown', null],
    [429, 'TooManyRequests', null],
  ])('an answer %d %s', async (status, code, expected) => {
    proxy.intervene((asked, response) => {
      response.writeHead(status, { 'content-type': 'application/xml' }).end(errorXml(code));
      return true;
    });
    expect(await open().findRefusal()).toEqual(expected);
  });

  test('none while nobody answers: it may be there later', async () => {
    const nobody = open({ endpoint: `http://127.0.0.1:${String(await freePort())}` });
    expect(await nobody.findRefusal()).toBeNull();
    await expect(nobody.check()).rejects.toBeInstanceOf(UnavailableError);
  });
});
