import { Parser } from 'htmlparser2';

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

/** Collects the readable text of markup that is fed in pieces: blocks apart, cells of a row on its line, no scripts or styles. */
export function createHtmlText(): { write(markup: string): void; end(): string } {
  const parts: string[] = [];
  let gap = '';
  let dropped = 0;
  let preformatted = 0;
  let isLineOpen = false;

  const separate = (separator: '\n' | '\n\n' | ' | '): void => {
    if (
      separator === ' | '
        ? isLineOpen && !gap.includes('\n')
        : separator.length > (gap.includes('\n') ? gap.length : 0)
    )
      gap = separator;
  };
  const append = (text: string): void => {
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
  };
  const border = (name: string): void => {
    if (PARAGRAPHS.has(name)) separate('\n\n');
    else if (LINES.has(name)) separate('\n');
  };

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (DROPPED.has(name)) dropped += 1;
        if (dropped > 0) return;
        border(name);
        if (name === 'br') separate('\n');
        if (name === 'pre' || name === 'textarea') preformatted += 1;
        if (CELLS.has(name)) separate(' | ');
        if (name === 'tr') isLineOpen = false;
        if (name === 'li') append('- ');
        if (name === 'img' && attributes['alt']) append(` ${attributes['alt']} `);
      },
      onclosetag(name) {
        if (DROPPED.has(name)) dropped = Math.max(0, dropped - 1);
        if (dropped > 0) return;
        border(name);
        if (name === 'pre' || name === 'textarea') preformatted = Math.max(0, preformatted - 1);
        if (CELLS.has(name)) separate(' | ');
      },
      ontext(text) {
        if (dropped === 0) append(text);
      },
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  return {
    write(markup) {
      parser.write(markup);
    },
    end() {
      parser.end();
      return parts.join('');
    },
  };
}
