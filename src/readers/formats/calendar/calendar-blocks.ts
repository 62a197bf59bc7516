import type { Block } from '../../blocks/block.js';
import { ENTRIES, plainText, readComponents, type Component, type Property } from './calendar-lines.js';
import { recurrence, span } from './calendar-times.js';

/** The words for the entries of a calendar that is sent with a method. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ['CANCEL', 'cancelled'],
  ['COUNTER', 'proposed for another time'],
  ['DECLINECOUNTER', 'the proposed time was declined'],
]);

/** Reads a calendar: the kind of each entry, its time and place, and who takes part. */
export function* calendarBlocks(text: string): Iterable<Block> {
  for (const calendar of readComponents(text)) {
    const method = METHODS.get(valueOf(calendar, 'METHOD').toUpperCase());
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
    ['Repeats', recurrence(valueOf(entry, 'RRULE'))],
    ['Where', textOf(entry, 'LOCATION')],
    ['Organizer', peopleOf(entry, 'ORGANIZER')],
    ['Attendees', peopleOf(entry, 'ATTENDEE')],
    ['Categories', textOf(entry, 'CATEGORIES')],
    ['Link', valueOf(entry, 'URL').trim()],
  ];
  const known = lines.filter(([, text]) => text !== '').map(([label, text]) => `${label}: ${text}`);
  const description = [textOf(entry, 'DESCRIPTION'), textOf(entry, 'COMMENT')].filter((text) => text !== '');
  return [known.join('\n'), ...description].filter((text) => text !== '').join('\n\n');
}

const find = ({ properties }: Component, name: string): Property | undefined =>
  properties.find((property) => property.name === name);
const valueOf = (component: Component, name: string): string => find(component, name)?.value ?? '';

const textOf = ({ properties }: Component, name: string): string =>
  properties
    .filter((property) => property.name === name)
    .map(({ value }) => plainText(value))
    .filter((text) => text !== '')
    .join(', ');

const statusOf = (entry: Component): string =>
  /^(?:cancelled|tentative)$/i.test(valueOf(entry, 'STATUS').trim())
    ? valueOf(entry, 'STATUS').trim().toLowerCase()
    : '';

const peopleOf = ({ properties }: Component, name: string): string =>
  properties
    .filter((property) => property.name === name)
    .map(person)
    .filter((text) => text !== '')
    .join(', ');

/** Returns a person as mails name people, with the answer of an attendee. */
function person({ parameters, value }: Property): string {
  const address = value.trim().replace(/^mailto:/i, '');
  const name = parameters.get('CN') ?? '';
  const answer = ANSWERS.get((parameters.get('PARTSTAT') ?? '').toUpperCase());
  const who = name === '' || name === address ? address : `${name} <${address}>`;
  return answer === undefined ? who : `${who} (${answer})`;
}

const ANSWERS: ReadonlyMap<string, string> = new Map([
  ['ACCEPTED', 'accepted'],
  ['DECLINED', 'declined'],
  ['TENTATIVE', 'tentative'],
  ['DELEGATED', 'delegated'],
]);
