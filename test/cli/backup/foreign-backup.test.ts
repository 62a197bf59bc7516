import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { once, putHashed } from '../../../src/cli/backup/hashed.js';
import { createKeyParts } from '../../../src/cli/backup/key-parts.js';
import {
  FORMAT,
  placeOfSource,
  placesOf,
  writeManifest,
  type KeyPart,
} from '../../../src/cli/backup/manifest.js';
import { restore } from '../../../src/cli/backup/restore.js';
import { UserError } from '../../../src/cli/user-messages.js';
import { openFolder } from '../../../src/shared/create-storage.js';
import { sourceKey } from '../../../src/shared/storage/sources.js';
import { keys } from '../../../src/shared/redis/keys.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-foreign-backup-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Written {
  readonly key?: string;
  readonly source?: string;
  readonly change?: (parts: readonly KeyPart[]) => readonly KeyPart[];
}

/** Writes a backup whose hashes fit, as whoever can write its folder may. */
async function writeBackup({
  key = keys.epoch,
  source,
  change = (parts) => parts,
}: Written): Promise<string> {
  const place = join(folder, 'backup');
  const to = await openFolder(place);
  const places = placesOf('run');
  const parts = createKeyParts(to, places);
  await parts.add({ key, expiresAt: 0, value: Buffer.from('value') });
  const empty = { bytes: 0, sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' };
  const list = source === undefined ? '' : `${JSON.stringify({ name: source, ...empty })}\n`;
  await writeManifest(to, {
    format: FORMAT,
    moment: '2026-01-01T00:00:00Z',
    waited: 1,
    redis: '7.2',
    documents: 1,
    keys: [...change(await parts.end())],
    sources: {
      name: places.sourceList,
      ...(await putHashed(to, places.sourceList, once(Buffer.from(list)))),
    },
    missing: [],
  });
  return place;
}

const check = (place: string) => restore(place, { check: true }, { QUIRE_DATA_DIR: join(folder, 'data') });

describe('a backup that somebody else has written', () => {
  test('can be restored where it holds what backups have', async () => {
    await expect(check(await writeBackup({}))).resolves.toMatch(/^1 documents.*can be restored/);
  });

  test.each<readonly [string, Written, RegExp]>([
    ['of another program', { key: 'sessions:42' }, /none of Quire's: "sessions:42"/],
    ['which says that a restore is under way', { key: keys.restoring }, /none of Quire's/],
  ])('is refused with a key %s, before anything is changed', async (_, written, message) => {
    const refused = check(await writeBackup(written));
    await expect(refused).rejects.toThrow(UserError);
    await expect(refused).rejects.toThrow(message);
  });

  test.each([
    '../../stolen',
    '/etc/stolen',
    '2026-01/../../stolen',
    'a//b',
    '',
    // Objects that a bucket may hold besides sources of Quire.
    'marker',
    'invoices/2026.pdf',
    '2026-01/invoice.pdf',
  ])('is refused with a source named %j', async (source) => {
    const refused = check(await writeBackup({ source }));
    await expect(refused).rejects.toThrow(UserError);
    await expect(refused).rejects.toThrow(/list of sources of the backup cannot be read/);
  });

  test('can be restored with the source of a document', async () => {
    const source = sourceKey({ documentId: randomUUID(), version: 1 });
    const place = await writeBackup({ source });
    const to = await openFolder(place);
    await to.put(placeOfSource(source), once(Buffer.alloc(0)));
    await expect(check(place)).resolves.toMatch(/can be restored/);
  });

  test.each<readonly [string, number, RegExp]>([
    ['unpacks to more than it says', 3, /cannot be unpacked, or is larger than it says/],
    ['needs more memory than there is', 2 ** 50, /needs \d+ MiB of memory, of which \d+ are free/],
  ])('is refused with a part that %s', async (_what, unpacked, message) => {
    const change = (parts: readonly KeyPart[]) => parts.map((part) => ({ ...part, unpacked }));
    const refused = check(await writeBackup({ change }));
    await expect(refused).rejects.toThrow(UserError);
    await expect(refused).rejects.toThrow(message);
  });

  test('can be restored where parts do not say how large they are, as earlier versions wrote them', async () => {
    const change = (parts: readonly KeyPart[]) =>
      parts.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 }));
    await expect(check(await writeBackup({ change }))).resolves.toMatch(/can be restored/);
  });

  test('is refused with a part outside of it', async () => {
    const change = (parts: readonly KeyPart[]) => parts.map((part) => ({ ...part, name: '../../secret' }));
    const refused = check(await writeBackup({ change }));
    await expect(refused).rejects.toThrow(UserError);
    await expect(refused).rejects.toThrow(/manifest.json of the backup cannot be read/);
  });
});
