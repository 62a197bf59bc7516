/** The facts about a programming language by which its source is divided. */
export interface Language {
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
export function languageOf(filename: string | null): Language {
  const extension = /\.([A-Za-z0-9]+)$/.exec(filename ?? '')?.[1]?.toLowerCase() ?? '';
  return byExtension.get(extension) ?? UNKNOWN;
}
