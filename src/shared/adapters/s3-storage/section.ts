import { z } from 'zod';
import { choice, httpUrl, orEmpty, text, whole, type Pattern } from '../../settings/setting-kinds.js';

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
export const s3 = z.strictObject({
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
