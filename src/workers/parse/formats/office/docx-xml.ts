import { ShallowParser } from '../shallow-parser.js';

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

/** Reads the paragraphs of a part of a Word file, a chart or a diagram as a stream, in the order of its XML, with text boxes. */
export function readParagraphs(xml: string): string[] {
  const collected = createParagraphs();
  let skipped = 0;
  let texts = 0;
  const parser = new ShallowParser(
    {
      onopentag(name) {
        if (SKIPPED.has(name)) skipped += 1;
        if (skipped > 0) return;
        if (TEXT.has(name)) texts += 1;
        else collected.open(name);
      },
      onclosetag(name) {
        if (SKIPPED.has(name)) {
          skipped = Math.max(0, skipped - 1);
          return;
        }
        if (skipped > 0) return;
        if (TEXT.has(name)) texts = Math.max(0, texts - 1);
        else collected.close(name);
      },
      ontext(text) {
        if (skipped === 0 && texts > 0) collected.append(text);
      },
    },
    { xmlMode: true, decodeEntities: true, dropped: SKIPPED },
  );
  parser.end(xml);
  return collected.end();
}

/** Collects text by paragraph. */
function createParagraphs() {
  const paragraphs: string[] = [];
  // A text box is inside a paragraph: its own paragraphs come first, then the rest of the outer one.
  const opened: string[][] = [];
  let rest: string[] = [];
  const append = (text: string): void => {
    (opened.at(-1) ?? rest).push(text);
  };
  const add = (parts: readonly string[]): void => {
    const text = parts.join('').trim();
    if (text !== '') paragraphs.push(text);
  };
  const addRest = (): void => {
    add(rest);
    rest = [];
  };
  return {
    append,
    open: (name: string): void => {
      if (PARAGRAPHS.has(name)) opened.push([]);
      else if (name === 'w:tab') append('\t');
      else if (name === 'w:br' || name === 'w:cr') append('\n');
      else if (name === 'w:noBreakHyphen') append('-');
    },
    close: (name: string): void => {
      if (PARAGRAPHS.has(name)) add(opened.pop() ?? []);
      else if (SEPARATING.has(name)) addRest();
    },
    end: (): string[] => {
      addRest();
      return paragraphs;
    },
  };
}
