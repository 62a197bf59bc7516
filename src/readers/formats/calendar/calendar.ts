import type { Block } from '../../blocks/block.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';
import { ReadError } from '../../read-error.js';

/** Reads a file with entries of a calendar (RFC 5545). */
export function* parseIcs(bytes: Uint8Array, { receipt }: ReadContext): Iterable<Block> {
  receipt.setParser('calendar', '1');
  const text = decodeText(bytes, { receipt });
  if (!/^\s*BEGIN:V/i.test(text.slice(0, 200)))
    throw new ReadError('corrupt', 'The file is no calendar: it does not begin as one.');
  yield* calendarBlocks(text);
}

/** The words for the entries of a calendar that is sent with a method. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ['CANCEL', 'cancelled'],
  ['COUNTER', 'proposed for another time'],
  ['DECLINECOUNTER', 'the proposed time was declined'],
]);

/** Reads a calendar: the kind of each entry, its time and place, and who takes part. */
export function* calendarBlocks(text: string): Iterable<Block> {
  for (const calendar of readComponents(text)) {
    const method = METHODS.get(valueOf(find(calendar, 'METHOD')).toUpperCase());
    const entries = ENTRIES.has(calendar.name) ? [calendar] : calendar.components;
    for (const entry of entries)
      if (ENTRIES.has(entry.name)) yield { text: `${entryText(entry, method)}\n\n` };
  }
}

function entryText(entry: Component, method: string | undefined): string {
  const lines: (readonly [label: string, text: string])[] = [
    ['Event', textOf(entry, 'SUMMARY')],
    ['Status', method ?? statusOf(entry)],
    [
      'When',
      span(find(entry, 'DTSTART'), find(entry, 'DTEND') ?? find(entry, 'DUE') ?? find(entry, 'DURATION')),
    ],
    ['Repeats', recurrence(valueOf(find(entry, 'RRULE')))],
    ['Where', textOf(entry, 'LOCATION')],
    ['Organizer', peopleOf(entry, 'ORGANIZER')],
    ['Attendees', peopleOf(entry, 'ATTENDEE')],
    ['Categories', textOf(entry, 'CATEGORIES')],
    ['Link', trimmed(find(entry, 'URL'))],
  ];
  const known = lines.filter(([, text]) => text !== '').map(([label, text]) => `${label}: ${text}`);
  const description = [textOf(entry, 'DESCRIPTION'), textOf(entry, 'COMMENT')].filter((text) => text !== '');
  return [known.join('\n'), ...description].filter((text) => text !== '').join('\n\n');
}

const find = ({ properties }: Component, name: string): Property | undefined =>
  properties.find((property) => property.name === name);

/** Empty where the property is missing. */
const valueOf = (property: Property | undefined): string => property?.value ?? '';
const trimmed = (property: Property | undefined): string => valueOf(property).trim();
/** Empty where the property has no such parameter. */
const parameterOf = (property: Property | undefined, name: string): string =>
  property?.parameters.get(name) ?? '';

const textOf = ({ properties }: Component, name: string): string =>
  properties
    .filter((property) => property.name === name)
    .map(({ value }) => plainText(value))
    .filter((text) => text !== '')
    .join(', ');

const statusOf = (entry: Component): string =>
  /^(?:cancelled|tentative)$/i.test(trimmed(find(entry, 'STATUS')))
    ? trimmed(find(entry, 'STATUS')).toLowerCase()
    : '';

const peopleOf = ({ properties }: Component, name: string): string =>
  properties
    .filter((property) => property.name === name)
    .map(person)
    .filter((text) => text !== '')
    .join(', ');

/** Returns a person as mails name people, with the answer of an attendee. */
function person(property: Property): string {
  const address = trimmed(property).replace(/^mailto:/i, '');
  const name = parameterOf(property, 'CN');
  const answer = ANSWERS.get(parameterOf(property, 'PARTSTAT').toUpperCase());
  const who = name === '' || name === address ? address : `${name} <${address}>`;
  return answer === undefined ? who : `${who} (${answer})`;
}

const ANSWERS: ReadonlyMap<string, string> = new Map([
  ['ACCEPTED', 'accepted'],
  ['DECLINED', 'declined'],
  ['TENTATIVE', 'tentative'],
  ['DELEGATED', 'delegated'],
]);

const TIME = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(?:\d\d)?(Z?))?$/;
const DURATION = /^[+-]?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:\d+S)?)?$/;
const UNITS = ['weeks', 'days', 'hours', 'minutes'] as const;
const FREQUENCY = /(?:^|;)FREQ=(\w+)/i;

/**
 * Writes a time from its beginning to its end or with its duration: `2024-03-05 09:00 to 10:00 (Europe/Berlin)`. Times are
 * local to the place that the calendar names, since nothing else tells the clock of its readers.
 */
function span(start: Property | undefined, end: Property | undefined): string {
  const from = timeOf(start);
  if (!from) return end && timeOf(end) ? `until ${written(timeOf(end))}` : '';
  const until = timeOf(end);
  if (!until) return [written(from), durationOf(end)].filter((text) => text !== '').join(', ');
  if (from.clock === '') return allDay(from, until);
  if (from.zone !== until.zone) return `${written(from)} to ${written(until)}`;
  const to = from.date === until.date ? until.clock : `${until.date} ${until.clock}`;
  return `${from.date} ${from.clock} to ${to}${from.zone === '' ? '' : ` (${from.zone})`}`;
}

interface Time {
  readonly date: string;
  /** Empty for a day as a whole. */
  readonly clock: string;
  readonly zone: string;
}

function timeOf(property: Property | undefined): Time | undefined {
  const [, year, month, day, hours, minutes, utc] = TIME.exec(trimmed(property)) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const clock = hours === undefined || minutes === undefined ? '' : `${hours}:${minutes}`;
  const zone = utc === 'Z' ? 'UTC' : parameterOf(property, 'TZID');
  return { date: `${year}-${month}-${day}`, clock, zone };
}

const written = (time: Time | undefined): string =>
  time === undefined
    ? ''
    : `${time.date}${time.clock === '' ? '' : ` ${time.clock}`}${time.zone === '' ? '' : ` (${time.zone})`}`;

/** The end of whole days is the day after the last one. */
function allDay(from: Time, until: Time): string {
  const end = Date.parse(`${until.date}T00:00:00Z`);
  const last = Number.isNaN(end) ? until.date : new Date(end - 86_400_000).toISOString().slice(0, 10);
  return last <= from.date ? from.date : `${from.date} to ${last}`;
}

function durationOf(property: Property | undefined): string {
  const found = DURATION.exec(trimmed(property));
  if (!found) return '';
  const parts = UNITS.flatMap((unit, index) => {
    const count = found[index + 1]?.replace(/^0+/, '');
    if (count === undefined || count === '') return [];
    return [`${count} ${count === '1' ? unit.slice(0, -1) : unit}`];
  });
  return parts.length === 0 ? '' : `for ${parts.join(' ')}`;
}

/** Writes how an entry recurs: `weekly` for `FREQ=WEEKLY;…`, with the rest as it is written. */
function recurrence(rule: string): string {
  const frequency = FREQUENCY.exec(rule)?.[1];
  if (frequency === undefined) return '';
  const rest = rule
    .split(';')
    .filter((part) => !/^FREQ=/i.test(part))
    .map((part) => part.replace('=', ' ').toLowerCase())
    .join(', ');
  return `${frequency.toLowerCase()}${rest === '' ? '' : `, ${rest}`}`;
}

/** A property of a calendar (RFC 5545): `DTSTART;TZID=Europe/Berlin:20240305T100000`. */
interface Property {
  /** In upper case. */
  readonly name: string;
  /** Names in upper case. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The value as it is written, with its escapes. */
  readonly value: string;
}

/** A part of a calendar, such as an event, with the parts within it. */
interface Component {
  /** The name in capitals, such as `VEVENT`. */
  readonly name: string;
  readonly properties: readonly Property[];
  readonly components: readonly Component[];
}

/** Components that stand directly in a calendar, and never within another one of them. */
const ENTRIES: ReadonlySet<string> = new Set(['VEVENT', 'VTODO', 'VJOURNAL']);
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
function readComponents(text: string): readonly Component[] {
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
    [...parameters.matchAll(PARAMETER)].map(({ 1: key = '', 2: quoted, 3: plain = '' }) => [
      key.toUpperCase(),
      quoted ?? plain,
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
const plainText = (value: string): string =>
  value.replace(/\\([nN\\,;:"])/g, (_, sign: string) => (sign.toLowerCase() === 'n' ? '\n' : sign)).trim();
