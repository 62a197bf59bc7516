import type { Block } from '../../blocks/block.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';
import { languageOf, type Language } from './languages.js';

/** A long indentation is data, or a wrapped line, rather than a declaration. */
const MAX_INDENTATION = 40;
const MAX_DECLARATION_LENGTH = 300;

/**
 * Reads source code unchanged. A block begins where a function, a class or something else at the left margin does, with the
 * comment before it; a declaration's first line is a heading where the language tells it by that line.
 */
export function* parseCode(bytes: Uint8Array, { filename, receipt }: ReadContext): Iterable<Block> {
  const language = languageOf(filename);
  receipt.setParser(`code:${language.name}`, '1');
  const nesting = createNesting();
  let lines: string[] = [];
  let first = 1;
  let number = 0;
  const take = (): Block[] => {
    const text = lines.join('');
    const place = { line: first };
    lines = [];
    first = number;
    return text === '' ? [] : [{ text, place }];
  };
  for (const line of linesOf(decodeText(bytes, { receipt }))) {
    number += 1;
    const declared = declarationIn(line, language);
    if (declared) {
      const comment = takeComment(lines);
      yield* take();
      first -= comment.length;
      lines = comment;
      yield* take();
      yield { text: line, heading: nesting.levelOf(declared.indentation), place: { line: number } };
      first = number + 1;
      continue;
    }
    if (startsPart(line, lines.at(-1), language)) {
      const comment = takeComment(lines);
      yield* take();
      first -= comment.length;
      lines = comment;
    }
    lines.push(line);
  }
  yield* take();
}

/** The lines of a text with their ends. */
function* linesOf(text: string): Iterable<string> {
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    yield text.slice(start, end + 1);
    start = end + 1;
  }
  if (start < text.length) yield text.slice(start);
}

function declarationIn(line: string, { declaration }: Language): { indentation: number } | undefined {
  if (!declaration) return undefined;
  const solid = line.trimStart();
  const blank = line.slice(0, line.length - solid.length).replace(/\t/g, '    ');
  if (solid === '' || blank.length > MAX_INDENTATION) return undefined;
  return declaration.test(solid.slice(0, MAX_DECLARATION_LENGTH)) ? { indentation: blank.length } : undefined;
}

/** Tells whether a part begins at a line: after an empty line, or with a word that begins such parts. */
function startsPart(line: string, before: string | undefined, { starts }: Language): boolean {
  if (before === undefined || line === '' || /^[\s})\]]/.test(line)) return false;
  const isComment = COMMENT.test(line);
  if (before.trim() === '') return isComment || starts.length === 0 || beginsWith(line, starts);
  return !isComment && !COMMENT.test(before) && beginsWith(line, starts);
}

const beginsWith = (line: string, starts: readonly string[]): boolean =>
  starts.some(
    (start) =>
      line.startsWith(start) &&
      (!/\w$/.test(start) || !/^\w/.test(line.slice(start.length, start.length + 1))),
  );

/** Comments and decorators, which belong to the following lines. */
const COMMENT = /^\s*(?:\/\/|\/\*|\*|#(?!include|define|if)|--(?!-)|;;|@\w)/;

/** Removes the comment and decorators at the end of the lines, and returns them. */
function takeComment(lines: string[]): string[] {
  let count = 0;
  while (count < lines.length && COMMENT.test(lines[lines.length - 1 - count] ?? '')) count += 1;
  return count === 0 ? [] : lines.splice(lines.length - count);
}

const MAX_HEADING_DEPTH = 6;

/** Tells levels of declarations by their indentation: a declaration that is indented further is within the one before. */
function createNesting(): { levelOf(indentation: number): number } {
  const open: number[] = [];
  return {
    levelOf(indentation) {
      while (open.length > 0 && (open.at(-1) ?? 0) >= indentation) open.pop();
      open.push(indentation);
      return Math.min(open.length, MAX_HEADING_DEPTH);
    },
  };
}
