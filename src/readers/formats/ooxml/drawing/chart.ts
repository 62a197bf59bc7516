import { textOrEmpty } from '../../../../shared/at.js';
import type { OfficePackage } from '../package/office-package.js';
import { childOf, descend, findAll, findFirst, textOf, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import { paragraphText } from './text-body.js';
import { oneLine } from '../../../blocks/one-line.js';

/** Most points of a series that are read. */
const MAX_POINTS = 10_000;
const MAX_SERIES = 100;

export interface Chart {
  /** Empty when there is none. */
  readonly title: string;
  /** The first row has the names of the series, the first column the names of the categories. */
  readonly rows: readonly (readonly string[])[];
}

/** Reads the title and the values of a chart, as the file keeps them to draw it. */
export function readChart(office: OfficePackage, part: string): Chart {
  const tree = office.tree(part);
  const chart = findFirst(tree, 'c:chart');
  const title = plainText(childOf(chart, 'c:title'));
  const series = [...findAll(chart, new Set(['c:ser']))].slice(0, MAX_SERIES).map(readSeries);
  const names = new Map<number, string>();
  for (const { categories } of series)
    for (const [index, name] of categories) if (!names.has(index)) names.set(index, name);
  const indexes = [...new Set(series.flatMap(({ values }) => [...values.keys()]))].sort((a, b) => a - b);
  const rows = indexes.map((index) => [
    textOrEmpty(names, index),
    ...series.map(({ values }) => textOrEmpty(values, index)),
  ]);
  return { title, rows: rows.length === 0 ? [] : [['', ...series.map(({ name }) => name)], ...rows] };
}

function readSeries(series: XmlElement) {
  return {
    name:
      [...readPoints(childOf(series, 'c:tx')).values()].join(' ') || textOf(descend(series, 'c:tx', 'c:v')),
    categories: readPoints(childOf(series, 'c:cat') ?? childOf(series, 'c:xVal')),
    values: readPoints(childOf(series, 'c:val') ?? childOf(series, 'c:yVal')),
  };
}

function readPoints(element: XmlElement | undefined): Map<number, string> {
  const points = new Map<number, string>();
  // Categories of several levels begin with the innermost.
  const source = findFirst(element, 'c:lvl') ?? element;
  for (const point of findAll(source, new Set(['c:pt']))) {
    const index = wholeNumber(point.attributes['idx'], MAX_POINTS - 1);
    const text = textOf(childOf(point, 'c:v')).trim();
    if (index !== undefined && index >= 0 && text !== '') points.set(index, text);
  }
  return points;
}

/** All text of DrawingML within an element, a space between paragraphs. */
export function plainText(element: XmlElement | undefined): string {
  const paragraphs = [...findAll(element, new Set(['a:p']))];
  const texts = paragraphs.map((paragraph) => paragraphText(paragraph));
  return oneLine(texts.join(' '));
}
