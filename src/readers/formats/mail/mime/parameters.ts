import { percentBytes } from '../../../encoding/percent.js';
import { decodeText } from '../../../encoding/decode-text.js';
import { decodeWords } from './encoded-words.js';

const PARAMETER = /;\s*([^=;\s"]{1,100})\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g;
/** `name*`, `name*0`, `name*0*`: sections of a value, which are written in percent where there is an asterisk at the end. */
const SECTION = /^(.*?)\*(?:(\d{1,4})(\*)?)?$/;

interface Section {
  readonly number: number;
  readonly isEncoded: boolean;
  readonly value: string;
}

/** The parameters of a header such as `Content-Type`, by their names in lower case, decoded (RFC 2045, 2047, 2231). */
export function parametersOf(header: string): ReadonlyMap<string, string> {
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
