import { ShallowParser } from './shallow-parser.js';

const DROPPED = new Set([
  'script',
  'style',
  'template',
  'noscript',
  'svg',
  'math',
  'object',
  'iframe',
  'canvas',
  'datalist',
]);
const PARAGRAPHS = new Set(
  'address article aside blockquote details dialog dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table title ul body'.split(
    ' ',
  ),
);
const LINES = new Set(
  'caption center dd div dt figcaption legend li optgroup option summary tr thead tbody tfoot button'.split(
    ' ',
  ),
);
const CELLS = new Set(['td', 'th']);
const PREFORMATTED = new Set(['pre', 'textarea']);

/** Collects the readable text of markup that is written in pieces. Blocks are separated, cells of a row share a line, and scripts and styles are left out. */
export function createHtmlText(): { write(markup: string): void; end(): string } {
  const text = createTextFlow();
  let dropped = 0;
  const parser = new ShallowParser(
    {
      onopentag(name, attributes) {
        if (DROPPED.has(name)) dropped += 1;
        if (dropped === 0) openElement(text, name, attributes['alt']);
      },
      onclosetag(name) {
        if (DROPPED.has(name)) dropped = Math.max(0, dropped - 1);
        if (dropped === 0) closeElement(text, name);
      },
      ontext(piece) {
        if (dropped === 0) text.append(piece);
      },
    },
    { decodeEntities: true, lowerCaseTags: true, dropped: DROPPED },
  );
  return {
    write(markup) {
      parser.write(markup);
    },
    end() {
      parser.end();
      return text.end();
    },
  };
}

function openElement(text: TextFlow, name: string, alt: string | undefined): void {
  separateBlock(text, name);
  if (name === 'br') text.separate('\n');
  if (PREFORMATTED.has(name)) text.beginPreformatted();
  if (CELLS.has(name)) text.separate(' | ');
  if (name === 'tr') text.beginRow();
  if (name === 'li') text.append('- ');
  if (name === 'img' && alt) text.append(` ${alt} `);
}

function closeElement(text: TextFlow, name: string): void {
  separateBlock(text, name);
  if (PREFORMATTED.has(name)) text.endPreformatted();
  if (CELLS.has(name)) text.separate(' | ');
}

function separateBlock(text: TextFlow, name: string): void {
  if (PARAGRAPHS.has(name)) text.separate('\n\n');
  else if (LINES.has(name)) text.separate('\n');
}

type TextFlow = ReturnType<typeof createTextFlow>;

/** Joins pieces of text with separators. Of several separators in a row the widest is used, and none at the beginning. */
function createTextFlow() {
  const parts: string[] = [];
  let gap = '';
  let preformatted = 0;
  let isLineOpen = false;
  const isWider = (separator: '\n' | '\n\n' | ' | '): boolean =>
    separator === ' | '
      ? isLineOpen && !gap.includes('\n')
      : separator.length > (gap.includes('\n') ? gap.length : 0);
  return {
    separate: (separator: '\n' | '\n\n' | ' | '): void => {
      if (isWider(separator)) gap = separator;
    },
    append: (text: string): void => {
      const isPlain = preformatted === 0;
      const solid = isPlain ? text.replace(/[\s\u00a0]+/g, ' ') : text;
      if (isPlain && solid.trim() === '') {
        if (solid !== '' && gap === '') gap = ' ';
        return;
      }
      const startsBlank = isPlain && solid.startsWith(' ');
      if (parts.length > 0) parts.push(gap === '' && startsBlank ? ' ' : gap);
      parts.push(isPlain ? solid.trim() : solid);
      gap = isPlain && solid.endsWith(' ') ? ' ' : '';
      isLineOpen = true;
    },
    /** Begins a row, whose first cell gets no separator. */
    beginRow: (): void => {
      isLineOpen = false;
    },
    beginPreformatted: (): void => {
      preformatted += 1;
    },
    endPreformatted: (): void => {
      preformatted = Math.max(0, preformatted - 1);
    },
    end: (): string => parts.join(''),
  };
}
