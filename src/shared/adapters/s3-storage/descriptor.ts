import { z } from 'zod';
import { SettingsError, type Problem } from '../../settings/rule.js';
import { choice, httpUrl, orEmpty, text, whole, type Pattern } from '../../settings/setting-kinds.js';
import type { StorageDescriptor } from '../descriptor.js';
import type { Refusal } from './refusal.js';

const bucketName: Pattern = {
  accepts: (value) => /^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/.test(value),
  allowed: 'the name of a bucket, 3 to 63 letters, digits, dots and hyphens',
};
const region: Pattern = {
  accepts: (value) => /^[A-Za-z0-9-]{1,64}$/.test(value),
  allowed: 'the name of a region',
};
const key: Pattern = {
  accepts: (value) => /^[\x21-\x7e]{1,256}$/.test(value),
  allowed: 'printable characters without spaces',
};

/** Settings that apply with `object_storage = "s3"`. */
const s3 = z.strictObject({
  bucket: text('', orEmpty(bucketName), 'Bucket that holds the source files; it must exist.'),
  endpoint: text('', orEmpty(httpUrl), "Address of the server; empty: Amazon's in the region."),
  region: text('us-east-1', region, 'Region of the bucket.'),
  addressing: choice(
    ['auto', 'path', 'host'],
    'auto',
    'Place of the name of the bucket: in the path, or before the host; `auto`: in the path if an endpoint is set.',
  ),
  accessKeyId: text(
    '',
    orEmpty(key),
    'Access key; empty: the environment, files or role that the AWS SDK finds.',
    { secret: true },
  ),
  secretAccessKey: text('', orEmpty(key), 'Secret of the access key.', { secret: true }),
  timeoutSeconds: whole(
    60,
    { min: 1, max: 3600 },
    'Longest time for an answer, including the upload of a part of 5 MiB, and longest silence within a download.',
  ),
});

const settings = { s3: s3.prefault({}) };

export const s3Storage: StorageDescriptor<'s3', typeof settings> = {
  name: 's3',
  description: 'in the bucket that [s3] names',
  isRemote: true,
  settings,
  rules: [
    {
      names: ['s3.bucket'],
      broken: ({ s3: { bucket } }) => bucket === '',
      problem: () => ({
        setting: 's3.bucket',
        value: '""',
        allowed: 'needed with object_storage = "s3": the name of a bucket that exists',
      }),
    },
  ],
  sectionRules: [
    {
      names: ['s3.access_key_id', 's3.secret_access_key'],
      broken: ({ s3: { accessKeyId, secretAccessKey } }) => (accessKeyId === '') !== (secretAccessKey === ''),
      problem: ({ s3: { accessKeyId } }) => ({
        setting: accessKeyId === '' ? 's3.access_key_id' : 's3.secret_access_key',
        value: '""',
        allowed: 'needed too where the other of s3.access_key_id and s3.secret_access_key is set',
      }),
    },
  ],
  create: async ({ s3: section }, { logger }) => {
    const { createS3Storage } = await import('./s3-storage.js');
    const { accessKeyId, secretAccessKey, addressing, bucket, region, endpoint } = section;
    const storage = createS3Storage({
      bucket,
      region,
      endpoint: endpoint === '' ? null : endpoint,
      pathStyle: addressing === 'auto' ? endpoint !== '' : addressing === 'path',
      credentials: accessKeyId === '' ? null : { accessKeyId, secretAccessKey },
      timeoutMilliseconds: section.timeoutSeconds * 1_000,
      onLeftBehind: (error) => {
        logger.warn({ err: error }, 'parts of an upload left behind');
      },
    });
    const refusal = await storage.findRefusal();
    if (refusal) throw new SettingsError([problemOf(refusal, section)]);
    return storage;
  },
  advice: ({ s3: { bucket } }) =>
    `this process keeps them in the bucket "${bucket}". API and workers need the same object_storage, ` +
    's3.endpoint and s3.bucket.',
};

function problemOf({ about, code }: Refusal, { bucket, region, endpoint }: z.infer<typeof s3>): Problem {
  const server = endpoint === '' ? 'Amazon S3' : new URL(endpoint).host;
  const said = `${server} answers ${code}`;
  switch (about) {
    case 'bucket':
      return { setting: 's3.bucket', value: JSON.stringify(bucket), allowed: `must exist; ${said}` };
    case 'region':
      return {
        setting: 's3.region',
        value: JSON.stringify(region),
        allowed: `must be the bucket's; ${said}`,
      };
    case 'endpoint':
      return { setting: 's3.endpoint', value: JSON.stringify(server), allowed: `must be an S3; ${said}` };
    case 'credentials':
      return {
        setting: 's3.access_key_id',
        value: null,
        allowed:
          `${said}: QUIRE_S3_ACCESS_KEY_ID and QUIRE_S3_SECRET_ACCESS_KEY, or what the AWS SDK finds without them, ` +
          `must be allowed to list the bucket "${bucket}" and to get, put and delete its objects`,
      };
  }
}
