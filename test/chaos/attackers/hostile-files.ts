import { randomBytes } from 'node:crypto';
import { strToU8, zipSync } from 'fflate';
import { endlessPdf, hungryPdf } from '../../support/pdfs.js';
import { zipBomb } from '../../support/zip-bomb.js';
import type { Actor } from '../arena.js';
import { dump, plantFile, type Loot } from './documents.js';
import { pause, untilOver } from './pause.js';

interface HostileFile {
  readonly extension: string;
  /** The frequency with which it is brought, beside the others; files that take all the time there is come seldom. */
  readonly weight: number;
  readonly write: () => Uint8Array;
}

const WORD = 'word/document.xml';
/** Each is ten of the one before: a hundred million letters. */
const ENTITIES = `<!DOCTYPE l [<!ENTITY e0 "aaaaaaaaaa">${Array.from(
  { length: 7 },
  (_, n) => `<!ENTITY e${String(n + 1)} "${`&e${String(n)};`.repeat(10)}">`,
).join('')}]>`;

/** Each brings its reader to a limit: of time, memory, depth, or size when unpacked. */
const FILES: readonly [HostileFile, ...HostileFile[]] = [
  { extension: 'pdf', weight: 1, write: () => strToU8(endlessPdf()) },
  { extension: 'pdf', weight: 1, write: hungryPdf },
  {
    extension: 'docx',
    weight: 2,
    write: () => zipBomb({ name: WORD, start: '<w:document>', megabytes: 300 }),
  },
  {
    extension: 'docx',
    weight: 4,
    write: () => zipSync({ [WORD]: strToU8(`${ENTITIES}<w:document>&e7;</w:document>`) }),
  },
  { extension: 'html', weight: 4, write: () => strToU8('<div><b>'.repeat(200_000)) },
  { extension: 'json', weight: 4, write: () => strToU8(`${'['.repeat(500_000)}1`) },
  { extension: 'csv', weight: 4, write: () => strToU8(`${','.repeat(1_000_000)}\n"`) },
  { extension: 'rtf', weight: 4, write: () => strToU8(`{\\rtf1 ${'{\\b '.repeat(300_000)}`) },
  {
    extension: 'eml',
    weight: 4,
    write: () => strToU8(`Content-Type: multipart/mixed; boundary=a\r\n\r\n${'--a\r\n\r\n'.repeat(100_000)}`),
  },
  {
    extension: 'png',
    weight: 4,
    write: () => Buffer.concat([Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'), randomBytes(50_000)]),
  },
  {
    extension: 'xlsx',
    weight: 4,
    write: () => zipSync({ 'xl/workbook.xml': strToU8('<workbook>'), 'a.bin': randomBytes(100_000) }),
  },
];

const WEIGHTS = Object.fromEntries(FILES.map(({ weight }, place) => [String(place), weight]));
const MAX = 12;

/** Some take seconds to write, in which nobody else is served here: each is written once, before all else. */
const WRITTEN = new Map<HostileFile, Uint8Array>();

export function writeHostileFiles(): void {
  for (const file of FILES) if (!WRITTEN.has(file)) WRITTEN.set(file, file.write());
}

/** Brings one file after the other, each with a word of its own in its name. */
export async function bringHostileFiles(actor: Actor, signal: AbortSignal): Promise<void> {
  const loot: Loot = [];
  await untilOver(signal, async () => {
    const file = FILES[Number(actor.random.weighted(WEIGHTS))] ?? FILES[0];
    await plantFile(actor, loot, { bytes: WRITTEN.get(file) ?? file.write(), extension: file.extension });
    if (loot.length > MAX) await dump(actor, loot, 4);
    await pause(actor, signal, [500, 2_500]);
  });
}
