import { createHash } from 'node:crypto';
import { strToU8, zipSync } from 'fflate';
import { writeMail } from '../support/mail.js';
import { openDocumentFile } from '../support/open-documents.js';
import { pagesPdf } from '../support/pdfs.js';
import { grid, workbook } from '../support/workbooks.js';
import type { Random } from './random.js';

export const KINDS = [
  'short text',
  'long text',
  'txt',
  'markdown',
  'html',
  'csv',
  'json',
  'docx',
  'xlsx',
  'odt',
  'rtf',
  'mail',
  'pdf',
  'empty pdf',
  'broken docx',
] as const;
export type Kind = (typeof KINDS)[number];

/** Bytes to ingest. Each sentence, row and paragraph holds the marker, so that every chunk does. */
export interface Content {
  readonly kind: Kind;
  /** A word that no other content holds, of whomever. */
  readonly marker: string;
  /** Emptied once nobody sends it again. */
  bytes: Uint8Array;
  readonly sha256: string;
  /** Null for text. */
  readonly filename: string | null;
  /** True if text can be read out of it. */
  readonly isReadable: boolean;
}

const MARKER = /zq[a-z]{6}qz/g;

/** Returns the markers in an answer, each once. */
export function markersIn(text: string): string[] {
  return [...new Set(text.match(MARKER))];
}

/** Letters only: words of letters are not cut up, whatever reads them. */
export function makeMarker(number: number): string {
  const letters = Array.from({ length: 6 }, (_, i) =>
    String.fromCharCode(97 + (Math.floor(number / 26 ** i) % 26)),
  );
  return `zq${letters.join('')}qz`;
}

const NOUNS = ['badger', 'lantern', 'harbour', 'ledger', 'orchard', 'violin', 'glacier', 'anvil'] as const;
const VERBS = ['follows', 'repairs', 'forgets', 'measures', 'describes', 'outlives'] as const;

function makeSentences(random: Random, marker: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => {
    const [one, verb, other] = [random.pick(NOUNS), random.pick(VERBS), random.pick(NOUNS)];
    return `In ${marker} the ${one} ${verb} the ${other} for the time number ${String(number)}.`;
  });
}

const WEIGHTS: Record<Kind, number> = {
  'short text': 12,
  'long text': 4,
  txt: 2,
  markdown: 2,
  html: 2,
  csv: 2,
  json: 1,
  docx: 2,
  xlsx: 1,
  odt: 1,
  rtf: 1,
  mail: 1,
  pdf: 2,
  'empty pdf': 0.5,
  'broken docx': 0.5,
};

export function makeContent(random: Random, marker: string, kind: Kind = random.weighted(WEIGHTS)): Content {
  const count = kind === 'long text' ? random.whole(60, 400) : random.whole(1, 14);
  const sentences = makeSentences(random, marker, count);
  const bytes = write(kind, sentences, marker);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const extension = EXTENSIONS[kind];
  const filename = extension === null ? null : `${marker}.${extension}`;
  const isReadable = kind !== 'empty pdf' && kind !== 'broken docx';
  return { kind, marker, bytes, sha256, filename, isReadable };
}

const EXTENSIONS: Record<Kind, string | null> = {
  'short text': null,
  'long text': null,
  txt: 'txt',
  markdown: 'md',
  html: 'html',
  csv: 'csv',
  json: 'json',
  docx: 'docx',
  xlsx: 'xlsx',
  odt: 'odt',
  rtf: 'rtf',
  mail: 'eml',
  pdf: 'pdf',
  'empty pdf': 'pdf',
  'broken docx': 'docx',
};

function write(kind: Kind, sentences: readonly string[], marker: string): Uint8Array {
  switch (kind) {
    case 'short text':
    case 'long text':
    case 'txt':
      return strToU8(sentences.join(' '));
    case 'markdown':
      return strToU8(`# Of ${marker}\n\n${sentences.map((each) => `- ${each}`).join('\n')}\n`);
    case 'html':
      return strToU8(
        `<!doctype html><html><body>${sentences.map((each) => `<p>${each}</p>`).join('')}</body></html>`,
      );
    case 'csv':
      return strToU8(`number,text\n${sentences.map((each, n) => `${String(n)},${each}`).join('\n')}\n`);
    case 'json':
      return strToU8(JSON.stringify(sentences.map((text) => ({ text }))));
    case 'docx':
      return docx(sentences);
    case 'xlsx':
      return workbook({ sheets: [{ name: 'One', rows: grid(sentences.map((each, n) => [n, each])) }] });
    case 'odt':
      return openDocumentFile('text', sentences.map((each) => `<text:p>${each}</text:p>`).join(''));
    case 'rtf':
      return strToU8(`{\\rtf1\\ansi ${sentences.join('\\par ')}}`);
    case 'mail':
      return new Uint8Array(writeMail({ subject: `Of ${marker}`, text: sentences.join('\r\n\r\n') }));
    case 'pdf':
      return pagesPdf([sentences]);
    case 'empty pdf':
      // A comment makes it a file of its own.
      return Buffer.concat([pagesPdf([[]]), Buffer.from(`%${marker}\n`)]);
    case 'broken docx':
      return zipSync({ [`${marker}.xml`]: strToU8('<a/>'), 'word/document.xml': strToU8('<w:document') });
  }
}

function docx(paragraphs: readonly string[]): Uint8Array {
  const space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  const body = paragraphs.map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join('');
  const parts = 'http://schemas.openxmlformats.org';
  const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
  return zipSync({
    '[Content_Types].xml': strToU8(
      `<Types xmlns="${parts}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="${type}"/></Types>`,
    ),
    '_rels/.rels': strToU8(
      `<Relationships xmlns="${parts}/package/2006/relationships"><Relationship Id="rId1" Type="${parts}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    ),
    'word/document.xml': strToU8(`<w:document ${space}><w:body>${body}</w:body></w:document>`),
  });
}
