import { decodeText } from '../../encoding/decode-text.js';

/** A property of a calendar (RFC 5545): `DTSTART;TZID=Europe/Berlin:20240305T100000`. */
export interface Property {
  /** In upper case. */
  readonly name: string;
  /** Names in upper case. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The value as it is written, with its escapes. */
  readonly value: string;
}

/** A part of a calendar, such as an event, with the parts within it. */
export interface Component {
  /** The name in capitals, such as `VEVENT`. */
  readonly name: string;
  readonly properties: readonly Property[];
  readonly components: readonly Component[];
}

/** Components that stand directly in a calendar, and never within another one of them. */
export const ENTRIES: ReadonlySet<string> = new Set(['VEVENT', 'VTODO', 'VJOURNAL']);
/** An event has alarms; more components within others than that are in no calendar. */
const MAX_DEPTH = 8;
const PROPERTY = /^([\w.-]{1,100})((?:;[\w-]{1,100}(?:=(?:"[^"]*"|[^";:]*))?)*):(.*)$/s;
const PARAMETER = /;([\w-]+)=(?:"([^"]*)"|([^";:]*))/g;
/** Values in quoted-printable, as phones and vCalendar 1.0 write them. Their lines go on behind an equals sign. */
const QUOTED = /^[^:]{0,1000};(?:ENCODING=)?QUOTED-PRINTABLE[;:]/i;

/**
 * Reads the components of a calendar, whose long lines go on behind a blank. Lines that are no properties are left out. A
 * component that is not closed, such as a time zone, ends where the next entry begins.
 */
export function readComponents(text: string): readonly Component[] {
  const top: OpenComponent[] = [];
  const open: OpenComponent[] = [];
  for (const line of linesOf(text)) {
    const property = propertyOf(line);
    if (!property) continue;
    const { name, value } = property;
    if (name === 'BEGIN') {
      const component = { name: value.trim().toUpperCase(), properties: [], components: [] };
      if (ENTRIES.has(component.name))
        open.length = Math.min(open.length, open[0]?.name === 'VCALENDAR' ? 1 : 0);
      if (open.length < MAX_DEPTH) (open.at(-1)?.components ?? top).push(component);
      open.push(component);
    } else if (name === 'END') open.pop();
    else open.at(-1)?.properties.push(property);
  }
  return top;
}

function* linesOf(text: string): Iterable<string> {
  // The parts of a line are joined at its end, so that many take time in proportion.
  const parts: string[] = [];
  for (const part of text
    .replace(/\r\n?/g, '\n')
    .replace(/\n[ \t]/g, '')
    .split('\n')) {
    const [start = part] = parts;
    const goesOn = part.endsWith('=') && QUOTED.test(start.slice(0, MAX_NAME_LENGTH));
    parts.push(goesOn ? part.slice(0, -1) : part);
    if (!goesOn) yield parts.splice(0).join('');
  }
  if (parts.length > 0) yield parts.join('');
}

/** The greatest length of the text before a value. */
const MAX_NAME_LENGTH = 2_000;

function decodedValue(line: string, value: string, charset: string | undefined): string {
  if (!QUOTED.test(line.slice(0, MAX_NAME_LENGTH))) return value;
  const bytes = value.replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return decodeText(Buffer.from(bytes, 'latin1'), { declared: charset });
}

interface OpenComponent extends Component {
  readonly properties: Property[];
  readonly components: OpenComponent[];
}

function propertyOf(line: string): Property | undefined {
  const [, name, parameters = '', value = ''] = PROPERTY.exec(line) ?? [];
  if (name === undefined) return undefined;
  const read = new Map(
    [...parameters.matchAll(PARAMETER)].map(({ 1: key = '', 2: quoted, 3: plain }) => [
      key.toUpperCase(),
      quoted ?? plain ?? '',
    ]),
  );
  return {
    // A name may have the name of a group before it.
    name: name.slice(name.lastIndexOf('.') + 1).toUpperCase(),
    parameters: read,
    value: decodedValue(line, value, read.get('CHARSET')),
  };
}

/** A text without its backslashes: `\n` is a new line, and commas and semicolons stand for themselves. */
export const plainText = (value: string): string =>
  value.replace(/\\([nN\\,;:"])/g, (_, sign: string) => (sign.toLowerCase() === 'n' ? '\n' : sign)).trim();
