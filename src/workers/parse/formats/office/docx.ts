import { zipSync } from 'fflate';
import mammoth from 'mammoth';
import { IngestError } from '../../../../shared/errors.js';
import type { Block } from '../../extraction/block.js';
import { decodeText } from '../decode-text.js';
import { readPackage } from './docx-package.js';
import { readParagraphs } from './docx-xml.js';
import { createHtmlText } from '../html-text.js';

/** A larger body is only read as a stream, because mammoth's tree of it takes about fifty times its size. */
const MAMMOTH_LIMIT = 16 * 1024 * 1024;
/** Parts that contain text of their own, which follows the body. */
const SIDE_PARTS =
  /(?:^|\/)(?:header|footer|footnotes|endnotes|comments|charts\/chart|diagrams\/data)\d*\.xml$/;
const noImages = mammoth.images.imgElement(() => Promise.resolve({ src: '' }));

/** Parses Word (docx): mammoth reads body, tables, lists and notes; text boxes, headers, footers and charts are added. */
export async function* parseDocx(bytes: Uint8Array): AsyncIterable<Block> {
  const parts = readPackage(bytes);
  const bodyName = bodyPart(parts);
  const body = parts[bodyName];
  if (!body) throw new IngestError('corrupt', 'The Word file has no document in it.');
  const bodyParagraphs = readParagraphs(decodeText(body));
  const main = body.length <= MAMMOTH_LIMIT ? await readWithMammoth(parts) : undefined;
  const text = main ?? bodyParagraphs.join('\n\n');
  yield { text };
  const seen = new Set(text.split(/\n| \| /).map(folded));
  const sides = Object.keys(parts)
    .filter((name) => SIDE_PARTS.test(name))
    .sort();
  const extra = [
    bodyParagraphs,
    ...sides.map((name) => readParagraphs(decodeText(parts[name] ?? new Uint8Array()))),
  ];
  for (const paragraph of extra.flat()) {
    const lines = paragraph.split('\n').map(folded);
    if (lines.every((line) => line === '' || seen.has(line))) continue;
    for (const line of lines) seen.add(line);
    yield { text: `\n\n${paragraph}` };
  }
}

function folded(line: string): string {
  return line.replace(/^- /, '').replace(/\s+/g, ' ').trim();
}

const tagOf = (markup: string): string => markup.slice(0, markup.indexOf('>') + 1);

/** Returns the name of the main part, which the relations of the package state. */
function bodyPart(parts: Record<string, Uint8Array>): string {
  const relations = parts['_rels/.rels'];
  const markup = relations ? decodeText(relations) : '';
  const relation =
    markup.split(/<Relationship(?=\s)/).find((rest) => tagOf(rest).includes('officeDocument"')) ?? '';
  const target = /Target="\/?([^"]+)"/.exec(tagOf(relation))?.[1] ?? '';
  return Object.hasOwn(parts, target) ? target : 'word/document.xml';
}

/** Returns undefined when mammoth fails; the paragraphs of the XML are used then. */
async function readWithMammoth(parts: Record<string, Uint8Array>): Promise<string | undefined> {
  try {
    // The package is zipped again without media, so that mammoth only reads bytes that were counted and fetches nothing.
    const buffer = Buffer.from(zipSync(parts, { level: 0 }));
    const { value } = await mammoth.convertToHtml(
      { buffer },
      { convertImage: noImages, externalFileAccess: false },
    );
    const html = createHtmlText();
    html.write(value);
    return html.end();
  } catch {
    return undefined;
  }
}
