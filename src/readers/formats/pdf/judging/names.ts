import { inflatedStreams, isEncrypted } from './streams.js';

/** Names of notes of people on pages, and of files that hang on them. */
export const NOTE_NAMES = [
  '/Subtype/Text',
  '/Subtype /Text',
  '/Highlight',
  '/Underline',
  '/Squiggly',
  '/StrikeOut',
  '/Caret',
  '/Stamp',
  '/Ink',
  '/Square',
  '/Circle',
  '/Polygon',
  '/PolyLine',
  '/FileAttachment',
] as const;

/**
 * Names that tell the content of a file's objects: annotations with words of people, files, forms, symbol fonts that are
 * not standard ones, and Adobe's collections of Chinese, Japanese and Korean characters.
 */
const NAMES = [
  '/FreeText',
  ...NOTE_NAMES,
  '/EmbeddedFile',
  '/AcroForm',
  '/XFA',
  'Wingdings',
  'Webdings',
  'SymbolMT',
  'SymbolNeu',
  '+Symbol',
  '+ZapfDingbats',
  '+MonotypeSorts',
  'Marlett',
  '(Japan1)',
  '(GB1)',
  '(CNS1)',
  '(Korea1)',
] as const;
export type ObjectName = (typeof NAMES)[number];

/** Names that lead to a gap, which must be sure. */
const SURE: ReadonlySet<ObjectName> = new Set(['/XFA']);
const known = new WeakMap<Uint8Array, ReadonlySet<ObjectName>>();

/** Tells whether an object of a file may hold one of these names, which is looked for once. */
export function mayName(bytes: Uint8Array, names: readonly ObjectName[]): boolean {
  const found = known.get(bytes) ?? findNames(bytes);
  known.set(bytes, found);
  return names.some((name) => found.has(name));
}

function findNames(bytes: Uint8Array): ReadonlySet<ObjectName> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = new Set(NAMES.filter((name) => file.includes(name)));
  const any = new Set(NAMES.filter((name) => !SURE.has(name) || found.has(name)));
  // Objects of an encrypted file cannot be looked through before it is opened.
  if (isEncrypted(bytes) && file.includes('/ObjStm')) return any;
  for (const objects of inflatedStreams(bytes, 'objects')) {
    if (objects === 'too large') return new Set([...any, ...found]);
    for (const name of NAMES) if (!found.has(name) && objects.includes(name)) found.add(name);
  }
  return found;
}
