import { randomBytes } from 'node:crypto';
import { strToU8, zipSync } from 'fflate';
import { endlessPdf, hungryPdf } from '../../support/pdfs.js';
import { zipBomb } from '../../support/zip-bomb.js';
import type { Actor } from '../arena.js';
import { dump, plantFile, type Loot } from './documents.js';
import { pause, untilOver } from './pause.js';

interface HostileFile {
  readonly extension: string;
  readonly write: () => Uint8Array;
}

const WORD = 'word/document.xml';
const ENTITIES = `<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">${[...'bcdefghi']
  .map((name, n) => `<!ENTITY ${name} "${`&${'abcdefgh'.charAt(n)};`.repeat(10)}">`)
  .join('')}]>`;

/** Each brings its reader to a limit: of time, of memory, of depth, of what it may unpack. */
const FILES: readonly [HostileFile, ...HostileFile[]] = [
  { extension: 'pdf', write: () => strToU8(endlessPdf()) },
  { extension: 'pdf', write: hungryPdf },
  { extension: 'docx', write: () => zipBomb(WORD, '<w:document>', 300) },
  { extension: 'docx', write: () => zipSync({ [WORD]: strToU8(`${ENTITIES}<w:document>&i;</w:document>`) }) },
  { extension: 'html', write: () => strToU8('<div><b>'.repeat(200_000)) },
  { extension: 'json', write: () => strToU8(`${'['.repeat(500_000)}1`) },
  { extension: 'csv', write: () => strToU8(`${','.repeat(1_000_000)}\n"`) },
  { extension: 'rtf', write: () => strToU8(`{\\rtf1 ${'{\\b '.repeat(300_000)}`) },
  {
    extension: 'eml',
    write: () => strToU8(`Content-Type: multipart/mixed; boundary=a\r\n\r\n${'--a\r\n\r\n'.repeat(100_000)}`),
  },
  {
    extension: 'png',
    write: () => Buffer.concat([Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'), randomBytes(50_000)]),
  },
  {
    extension: 'xlsx',
    write: () => zipSync({ 'xl/workbook.xml': strToU8('<workbook>'), 'a.bin': randomBytes(100_000) }),
  },
];

const MOST = 12;

/** Brings one file after the other, each with a word of its own in its name. */
export async function bringHostileFiles(actor: Actor, signal: AbortSignal): Promise<void> {
  const loot: Loot = [];
  await untilOver(signal, async () => {
    const { extension, write } = actor.random.pick(FILES);
    await plantFile(actor, loot, { bytes: write(), extension });
    if (loot.length > MOST) await dump(actor, loot, 4);
    await pause(actor, signal, [500, 2_500]);
  });
}
