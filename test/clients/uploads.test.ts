import { expect, test } from '@jest/globals';
import { Quire } from 'quire-client';
import { failureOf } from '../support/quire-client.js';
import { GUARDED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: GUARDED });
const MEBIBYTE = new Uint8Array(1024 * 1024).fill(65);
const LARGE = 110;

async function* mebibytes() {
  for (let number = 0; number < LARGE; number += 1) yield await Promise.resolve(MEBIBYTE);
}

/** Uploads that are answered before they have arrived. */
test.each([
  ['a stream', () => mebibytes()],
  ['a file', () => new Blob(Array.from({ length: LARGE }, () => MEBIBYTE))],
])('the refusal of %s is told, though it has not arrived', async (_name, open) => {
  const strange = new Quire({ url: service.url, token: 'nonsense' });
  expect(await failureOf(strange.ingest.file(open()))).toMatchObject({ status: 401 });
  const token = service.client('uploader').authorization.replace('Bearer ', '');
  const quire = new Quire({ url: service.url, token });
  expect(await failureOf(quire.ingest.file(open(), { filename: 'a.txt' }))).toMatchObject({ status: 413 });
});
