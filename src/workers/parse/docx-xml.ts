import { Parser } from 'htmlparser2';

const SKIPPED = new Set([
  'w:del',
  'w:moveFrom',
  'w:instrText',
  'mc:Fallback',
  'w:pPr',
  'w:rPr',
  'w:sectPr',
  'w:delText',
]);
const SEPARATING = new Set([
  'w:tc',
  'w:txbxContent',
  'w:footnote',
  'w:endnote',
  'w:comment',
  'c:ser',
  'c:pt',
]);
const TEXT = new Set(['w:t', 'a:t', 'm:t', 'c:v']);
const PARAGRAPHS = new Set(['w:p', 'a:p', 'c:pt']);

/** Paragraphs of a part of a Word file (or a chart, a diagram) in the order of its XML, text boxes included; reads as a stream. */
export function readParagraphs(xml: string): string[] {
  const paragraphs: string[] = [];
  // A text box sits inside a paragraph: its paragraphs come first, then the rest of the outer one.
  const open: string[][] = [];
  let skipped = 0;
  let texts = 0;
  let rest: string[] = [];
  const current = (): string[] => open[open.length - 1] ?? rest;
  const close = (parts: readonly string[]): void => {
    const text = parts.join('').trim();
    if (text !== '') paragraphs.push(text);
  };
  const parser = new Parser(
    {
      onopentag(name) {
        if (SKIPPED.has(name)) skipped += 1;
        if (skipped > 0) return;
        if (PARAGRAPHS.has(name)) open.push([]);
        else if (TEXT.has(name)) texts += 1;
        else if (name === 'w:tab') current().push('\t');
        else if (name === 'w:br' || name === 'w:cr') current().push('\n');
        else if (name === 'w:noBreakHyphen') current().push('-');
      },
      onclosetag(name) {
        if (SKIPPED.has(name)) {
          skipped = Math.max(0, skipped - 1);
          return;
        }
        if (skipped > 0) return;
        if (PARAGRAPHS.has(name)) close(open.pop() ?? []);
        else if (TEXT.has(name)) texts = Math.max(0, texts - 1);
        else if (SEPARATING.has(name)) {
          close(rest);
          rest = [];
        }
      },
      ontext(text) {
        if (skipped === 0 && texts > 0) current().push(text);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  close(rest);
  return paragraphs;
}
