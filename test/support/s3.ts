import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Dirent } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '../../src/shared/system-error-code.js';
import { freePort } from './redis.js';
import { until } from './until.js';

/** The one account that s3rver knows. */
export const S3_KEYS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
export const S3_BUCKET = 'quire-test';

export interface TestS3 {
  readonly endpoint: string;
  /** Settings of a process that is to use it, as its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Keys of all objects, and of the parts of uploads that are not complete. */
  keys(): Promise<string[]>;
  /** Kills the server as it stands; `start` brings it back with what it had written. */
  crash(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A throw-away S3 with one bucket, as a process of its own. */
export async function startTestS3(): Promise<TestS3> {
  const directory = await mkdtemp(join(tmpdir(), 'quire-s3-'));
  const bucket = join(directory, S3_BUCKET);
  await mkdir(bucket);
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${String(port)}`;
  let child = await run(directory, { port, endpoint });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  return {
    endpoint,
    env: s3Environment(endpoint),
    keys: async () => {
      const entries = await list(bucket);
      const files = entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name));
      return files
        .map((path) => path.slice(bucket.length + 1))
        .filter((path) => path.startsWith('._S3rver_uploads') || path.endsWith('._S3rver_object'))
        .map((path) => path.replace(/\._S3rver_object$/, ''))
        .sort();
    },
    crash: kill,
    start: async () => {
      child = await run(directory, { port, endpoint });
    },
    stop: async () => {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function s3Environment(endpoint: string): Record<string, string> {
  return {
    QUIRE_OBJECT_STORAGE: 's3',
    QUIRE_S3_ENDPOINT: endpoint,
    QUIRE_S3_BUCKET: S3_BUCKET,
    QUIRE_S3_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
    QUIRE_S3_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
  };
}

/** An error as S3 answers it. */
export function errorXml(code: string): string {
  return `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`;
}

async function run(
  directory: string,
  { port, endpoint }: { port: number; endpoint: string },
): Promise<ChildProcess> {
  const manifest = createRequire(import.meta.url).resolve('s3rver/package.json');
  const child = spawn(
    process.execPath,
    [
      '--no-warnings',
      join(dirname(manifest), 'bin/s3rver.js'),
      '--directory',
      directory,
      '--silent',
      '--address',
      '127.0.0.1',
      '--port',
      String(port),
      '--no-vhost-buckets',
    ],
    { stdio: 'ignore' },
  );
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`s3rver ended with ${String(child.exitCode)}`);
    const response = await fetch(endpoint).catch(() => null);
    await response?.body?.cancel();
    return response !== null;
  });
  return child;
}

/** Folders of objects that are removed meanwhile are gone while they are listed. */
async function list(bucket: string): Promise<Dirent[]> {
  for (;;) {
    try {
      return await readdir(bucket, { recursive: true, withFileTypes: true });
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT') throw error;
    }
  }
}
