import { extensionOf } from '../../detection/formats.js';
import { at } from '../../../shared/at.js';
import type { Block } from '../../blocks/block.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';

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
  while (count < lines.length && COMMENT.test(at(lines, lines.length - 1 - count))) count += 1;
  return count === 0 ? [] : lines.splice(lines.length - count);
}

const MAX_HEADING_DEPTH = 6;

/** Tells levels of declarations by their indentation: a declaration that is indented further is within the one before. */
function createNesting(): { levelOf(indentation: number): number } {
  const open: number[] = [];
  return {
    levelOf(indentation) {
      while (open.length > 0 && at(open, open.length - 1) >= indentation) open.pop();
      open.push(indentation);
      return Math.min(open.length, MAX_HEADING_DEPTH);
    },
  };
}

/** The facts about a programming language by which its source is divided. */
interface Language {
  /** Its common name. */
  readonly name: string;
  /** Words with which a line at the left margin begins that starts something of its own. */
  readonly starts: readonly string[];
  /**
   * Declarations that are a section: the expression matches their first line, without its indentation. Only where a line
   * tells so by itself.
   */
  readonly declaration?: RegExp | undefined;
}

const words = (list: string): string[] => list.split(' ');

const JAVASCRIPT =
  /^(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\b|class\s+\w|interface\s+\w|enum\s+\w|namespace\s+\w|type\s+\w+.{0,200}=|(?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:function\b|\([^()]{0,200}\)\s*=>|\w+\s*=>))/;
const JVM =
  /^(?:(?:public|protected|private|internal|static|final|abstract|sealed|open|data|partial|inner|override)\s+){0,6}(?:class|interface|enum|record|struct|object|trait|@interface|fun)\s+\w/;

/**
 * Separators after @langchain/textsplitters, which cuts source before lines that begin with these words. The words of
 * control flow are left out, since they begin lines within a part, and more languages are added.
 */
const LANGUAGES: readonly (readonly [extensions: string, Language])[] = [
  [
    'py pyi',
    {
      name: 'python',
      starts: words('class def async @ if'),
      declaration: /^(?:async\s+)?(?:class|def)\s+\w/,
    },
  ],
  [
    'js jsx mjs cjs',
    {
      name: 'javascript',
      starts: words('export async function const let var class'),
      declaration: JAVASCRIPT,
    },
  ],
  [
    'ts tsx mts cts',
    {
      name: 'typescript',
      starts: words(
        'export declare abstract async function const let var class interface enum type namespace @',
      ),
      declaration: JAVASCRIPT,
    },
  ],
  ['vue', { name: 'vue', starts: words('<template <script <style') }],
  ['go', { name: 'go', starts: words('func var const type'), declaration: /^(?:func|type)\s+[\w(]/ }],
  [
    'rs',
    {
      name: 'rust',
      starts: words('pub fn async unsafe const static struct enum trait impl mod macro_rules! use #['),
      declaration:
        /^(?:pub(?:\([^()]{0,100}\))?\s+)?(?:(?:async|unsafe|const|extern|default)\s+){0,4}(?:fn|struct|enum|trait|impl|mod|union)\b/,
    },
  ],
  [
    'java',
    {
      name: 'java',
      starts: words(
        'class interface enum record public protected private static abstract final @ import package',
      ),
      declaration: JVM,
    },
  ],
  [
    'kt kts',
    {
      name: 'kotlin',
      starts: words(
        'class interface object enum data sealed open abstract fun val var private internal public @',
      ),
      declaration: JVM,
    },
  ],
  [
    'cs',
    {
      name: 'csharp',
      starts: words(
        'namespace class interface struct enum record public internal private protected static using [',
      ),
      declaration: JVM,
    },
  ],
  [
    'scala',
    {
      name: 'scala',
      starts: words('class object trait case sealed abstract def val var @'),
      declaration:
        /^(?:(?:case|sealed|abstract|final|implicit|private|protected|override)\s+){0,5}(?:class|object|trait|def)\s+\w/,
    },
  ],
  [
    'swift',
    {
      name: 'swift',
      starts: words('func class struct enum protocol extension public private internal open final @'),
      declaration:
        /^(?:(?:public|private|fileprivate|internal|open|final|static|override|mutating)\s+){0,5}(?:func|class|struct|enum|protocol|extension|actor)\s+\w/,
    },
  ],
  [
    'php',
    {
      name: 'php',
      starts: words('function class interface trait enum abstract final namespace use'),
      declaration:
        /^(?:(?:public|protected|private|static|abstract|final|readonly)\s+){0,5}(?:function|class|interface|trait|enum)\s+[\w&]/,
    },
  ],
  ['rb', { name: 'ruby', starts: words('def class module'), declaration: /^(?:def|class|module)\s+\S/ }],
  [
    'ex exs',
    {
      name: 'elixir',
      starts: words('defmodule def defp defmacro @'),
      declaration: /^(?:defmodule|defp?|defmacrop?|defprotocol|defimpl)\s+\w/,
    },
  ],
  [
    'c h',
    {
      name: 'c',
      starts: words(
        'struct enum union typedef static void int float double char unsigned long size_t #define #if',
      ),
    },
  ],
  [
    'cc cpp cxx hh hpp',
    {
      name: 'cpp',
      starts: words(
        'class struct enum union namespace template typedef static inline void int float double bool char auto std:: #define #if',
      ),
    },
  ],
  [
    'm mm',
    { name: 'objective-c', starts: words('@interface @implementation @protocol @end - + static void int') },
  ],
  ['dart', { name: 'dart', starts: words('class abstract mixin extension enum void typedef final const @') }],
  [
    'lua',
    { name: 'lua', starts: words('function local return'), declaration: /^(?:local\s+)?function\s+\w/ },
  ],
  ['pl pm', { name: 'perl', starts: words('sub package use'), declaration: /^(?:sub|package)\s+\w/ }],
  ['hs', { name: 'haskell', starts: words('module data newtype type class instance import') }],
  [
    'jl',
    {
      name: 'julia',
      starts: words('function struct mutable abstract module macro const'),
      declaration: /^(?:function|struct|mutable\s+struct|module|macro)\s+\w/,
    },
  ],
  ['r', { name: 'r', starts: [] }],
  [
    'sol',
    {
      name: 'solidity',
      starts: words(
        'pragma using contract interface library abstract function event modifier error struct enum',
      ),
      declaration: /^(?:abstract\s+)?(?:contract|interface|library|function|modifier)\s+\w/,
    },
  ],
  [
    'proto',
    {
      name: 'protobuf',
      starts: words('message service enum option import syntax'),
      declaration: /^(?:message|service|enum)\s+\w/,
    },
  ],
  [
    'zig',
    {
      name: 'zig',
      starts: words('pub fn const var test'),
      declaration: /^(?:pub\s+)?(?:export\s+)?(?:inline\s+)?fn\s+\w/,
    },
  ],
  [
    'sql',
    {
      name: 'sql',
      starts: words(
        'CREATE create ALTER alter INSERT insert SELECT select UPDATE update DELETE delete DROP drop WITH with BEGIN begin',
      ),
    },
  ],
  [
    'sh bash zsh',
    { name: 'shell', starts: ['function'], declaration: /^(?:function\s+[\w-]+|[\w-]+\s*\(\s*\))/ },
  ],
  [
    'ps1',
    { name: 'powershell', starts: words('function Function class'), declaration: /^function\s+[\w-]+/i },
  ],
  ['css scss', { name: 'css', starts: words('@ . # :root') }],
  ['toml', { name: 'toml', starts: ['['] }],
  ['yaml yml', { name: 'yaml', starts: ['---'] }],
];

const byExtension = new Map(
  LANGUAGES.flatMap(([extensions, language]) =>
    words(extensions).map((extension) => [extension, language] as const),
  ),
);

const UNKNOWN: Language = { name: 'unknown', starts: [] };

/** The language of a source file by its name's extension. */
function languageOf(filename: string | null): Language {
  return byExtension.get(extensionOf(filename)) ?? UNKNOWN;
}
