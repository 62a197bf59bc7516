import PostalMime from 'postal-mime';
import { z } from 'zod';
import { oneLine } from '../../blocks/one-line.js';
import { decodeText } from '../../encoding/decode-text.js';
import { percentBytes } from '../../encoding/percent.js';
import { ReadError } from '../../read-error.js';
import { decodeWords } from './encoded-words.js';

/** More parts within parts than any mail program writes. */
const MAX_PART_DEPTH = 64;
/** Most bytes of the headers of all parts of a message. */
const MAX_HEADER_BYTES = 1024 * 1024;

/** A part of a message. */
export interface Part {
  /** Headers with their names in lower case and their values as they are written. */
  readonly headers: readonly { readonly key: string; readonly value: string }[];
  /** The media type, such as `text/plain`, in lower case. */
  readonly type: string;
  /** The parameters of its type. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly isAttached: boolean;
  readonly filename: string | null;
  readonly hasId: boolean;
  /** The content, with its transfer encoding undone; null for a part that consists of parts. */
  readonly bytes: Uint8Array | null;
  readonly parts: readonly Part[];
}

/** A part as postal-mime has it. */
const nodeSchema = z.object({
  headers: z.array(z.object({ key: z.string(), value: z.string() })),
  contentType: z.object({
    value: z.string(),
    parsed: z.object({ value: z.string() }),
    multipart: z.union([z.string(), z.literal(false)]),
  }),
  contentDisposition: z.object({ value: z.string(), parsed: z.object({ value: z.string() }) }),
  contentId: z.string().nullish(),
  content: z.instanceof(ArrayBuffer).nullable(),
  childNodes: z.array(z.unknown()),
});

/**
 * Divides a message into its parts. postal-mime finds them and undoes their transfer encodings; texts, names and headers are
 * decoded here, since it does that with `TextDecoder`. @throws ReadError for parts or headers out of bounds
 */
export async function parseParts(bytes: Uint8Array): Promise<Part> {
  const parser = Object.assign(
    new PostalMime({ maxNestingDepth: MAX_PART_DEPTH, maxHeadersSize: MAX_HEADER_BYTES }),
    // Replaces the decoding of the parts.
    { collectNode: () => Promise.resolve() },
  );
  try {
    await parser.parse(bytes);
  } catch (cause) {
    if (!(cause instanceof Error) || !cause.message.startsWith('Maximum ')) throw cause;
    throw new ReadError('too_large', 'The headers or the nested parts of the e-mail exceed the limits.', {
      cause,
    });
  }
  return toPart(Reflect.get(parser, 'root'));
}

function toPart(node: unknown): Part {
  const { headers, contentType, contentDisposition, contentId, content, childNodes } = nodeSchema.parse(node);
  const parameters = parametersOf(contentType.value);
  const filename = parametersOf(contentDisposition.value).get('filename') ?? parameters.get('name');
  return {
    headers,
    type: contentType.parsed.value.trim().toLowerCase(),
    parameters,
    isAttached: contentDisposition.parsed.value.trim().toLowerCase() === 'attachment',
    filename: filename === undefined || filename === '' ? null : filename,
    hasId: contentId !== undefined && contentId !== '',
    bytes: contentType.multipart === false && content ? new Uint8Array(content) : null,
    parts: childNodes.map(toPart),
  };
}

/** The value of a header without encoded words, on one line; empty for none. */
export function headerOf({ headers }: Part, name: string): string {
  const value = headers.find(({ key }) => key === name)?.value;
  return value === undefined ? '' : oneLine(decodeWords(value));
}

const PARAMETER = /;\s*([^=;\s"]{1,100})\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g;
/** `name*`, `name*0`, `name*0*`: sections of a value, which are written in percent where there is an asterisk at the end. */
const SECTION = /^(.*?)\*(?:(\d{1,4})(\*)?)?$/;

interface Section {
  readonly number: number;
  readonly isEncoded: boolean;
  readonly value: string;
}

/** The parameters of a header such as `Content-Type`, by their names in lower case, decoded (RFC 2045, 2047, 2231). */
function parametersOf(header: string): ReadonlyMap<string, string> {
  const plain = new Map<string, string>();
  const sections = new Map<string, Section[]>();
  for (const { 1: name = '', 2: written = '' } of header.matchAll(PARAMETER)) {
    const value = unquoted(written);
    const [, base, number, asterisk] = SECTION.exec(name.toLowerCase()) ?? [];
    if (base === undefined) {
      if (!plain.has(name.toLowerCase())) plain.set(name.toLowerCase(), decodeWords(value));
      continue;
    }
    const isEncoded = number === undefined || asterisk !== undefined;
    const list = sections.get(base) ?? [];
    list.push({ number: Number(number ?? 0), isEncoded, value });
    sections.set(base, list);
  }
  for (const [name, list] of sections) plain.set(name, joinSections(list));
  return plain;
}

const unquoted = (value: string): string =>
  /^".*"$/s.test(value)
    ? value.slice(1, -1).replace(/\\(.)/gs, '$1')
    : value
        .replace(/^"/, '')
        .replace(/\s\(.*$/s, '')
        .trim();

function joinSections(list: readonly Section[]): string {
  const sorted = [...list].sort((a, b) => a.number - b.number);
  const [first] = sorted;
  const [, charset, start] =
    first?.isEncoded === true ? (/^([^']*)'[^']*'(.*)$/s.exec(first.value) ?? []) : [];
  let text = '';
  let bytes: Buffer[] = [];
  const flush = (): void => {
    text += decodeText(Buffer.concat(bytes), { declared: charset });
    bytes = [];
  };
  for (const section of sorted) {
    const value = section === first ? (start ?? section.value) : section.value;
    // Sections in percent are decoded together: they may share a character.
    if (section.isEncoded) bytes.push(percentBytes(Buffer.from(value)));
    else {
      flush();
      text += value;
    }
  }
  flush();
  return text;
}
