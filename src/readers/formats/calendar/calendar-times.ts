import type { Property } from './calendar-lines.js';

const TIME = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(?:\d\d)?(Z?))?$/;
const DURATION = /^[+-]?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:\d+S)?)?$/;
const UNITS = ['weeks', 'days', 'hours', 'minutes'] as const;
const FREQUENCY = /(?:^|;)FREQ=(\w+)/i;

/**
 * Writes a time from its beginning to its end or with its duration: `2024-03-05 09:00 to 10:00 (Europe/Berlin)`. Times are
 * local to the place that the calendar names, since nothing else tells the clock of its readers.
 */
export function span(start: Property | undefined, end: Property | undefined): string {
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
  const [, year, month, day, hours, minutes, utc] = TIME.exec(property?.value.trim() ?? '') ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const clock = hours === undefined || minutes === undefined ? '' : `${hours}:${minutes}`;
  const zone = utc === 'Z' ? 'UTC' : (property?.parameters.get('TZID') ?? '');
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
  const found = DURATION.exec(property?.value.trim() ?? '');
  const parts = UNITS.flatMap((unit, index) => {
    const count = found?.[index + 1]?.replace(/^0+/, '') ?? '';
    return count === '' ? [] : [`${count} ${count === '1' ? unit.slice(0, -1) : unit}`];
  });
  return parts.length === 0 ? '' : `for ${parts.join(' ')}`;
}

/** Writes how an entry recurs: `weekly` for `FREQ=WEEKLY;…`, with the rest as it is written. */
export function recurrence(rule: string): string {
  const frequency = FREQUENCY.exec(rule)?.[1];
  if (frequency === undefined) return '';
  const rest = rule
    .split(';')
    .filter((part) => !/^FREQ=/i.test(part))
    .map((part) => part.replace('=', ' ').toLowerCase())
    .join(', ');
  return `${frequency.toLowerCase()}${rest === '' ? '' : `, ${rest}`}`;
}
