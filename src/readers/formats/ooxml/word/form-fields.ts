import { checkMark } from '../../forms/controls.js';
import { wholeNumberOrZero, childOf, childrenOf, isTrue, valueOf } from '../xml/elements.js';
import type { GapCounter } from '../gap-counter.js';
import type { XmlElement, XmlEvent } from '../xml/stream-xml.js';

/** Returns the state that an element gives; an element without a value is true. */
const isSaid = (element: XmlElement | undefined, value: string): boolean | undefined =>
  element && isTrue(element.attributes[value] ?? '1');

/**
 * Returns the text that a legacy form field (`w:ffData`) shows: the state of a checkbox, or the entry of a list. Undefined
 * for a field whose result is its text (ECMA-376 part 1, 17.16.17).
 */
export function oldFieldValue(data: XmlElement | undefined): string | undefined {
  const box = childOf(data, 'w:checkBox');
  if (box) {
    const isOn = isSaid(childOf(box, 'w:checked'), 'w:val') ?? isSaid(childOf(box, 'w:default'), 'w:val');
    return checkMark(isOn === true ? 'on' : 'off');
  }
  const list = childOf(data, 'w:ddList');
  const entries = [...childrenOf(list, 'w:listEntry')];
  const chosen = wholeNumberOrZero(valueOf(list, 'w:result') ?? valueOf(list, 'w:default'));
  return entries[chosen]?.attributes['w:val'];
}

/** The properties (`w:sdtPr`) by which a content control tells its content. */
export interface ContentControl {
  /** The state of a checkbox, whose content is only the sign for it. */
  readonly value: string | undefined;
  /** True if its content is a placeholder that nobody has filled in. */
  readonly isEmpty: boolean;
}

export function readControl(properties: XmlElement | undefined): ContentControl {
  const box = childOf(properties, 'w14:checkbox');
  const isOn = isSaid(childOf(box, 'w14:checked'), 'w14:val') === true;
  return {
    value: box && checkMark(isOn ? 'on' : 'off'),
    isEmpty: !box && isSaid(childOf(properties, 'w:showingPlcHdr'), 'w:val') === true,
  };
}

const NO_CONTROL: ContentControl = { value: undefined, isEmpty: false };

/** Follows the content controls that stand around whole paragraphs. */
export function createControls(gaps: GapCounter) {
  const open: ContentControl[] = [];
  return {
    meet(event: XmlEvent): void {
      if (event.type === 'open' && event.name === 'w:sdt') open.push(NO_CONTROL);
      else if (event.type === 'close' && event.name === 'w:sdt') open.pop();
      else if (event.type === 'element' && event.element.name === 'w:sdtPr' && open.pop()) {
        const control = readControl(event.element);
        if (control.isEmpty) gaps.skip('field');
        open.push(control);
      }
    },
    /** Returns a paragraph as it is read; undefined where it is only a placeholder that nobody has filled in. */
    shown(paragraph: XmlElement): XmlElement | undefined {
      if (open.some(({ isEmpty }) => isEmpty)) return undefined;
      const value = open.at(-1)?.value;
      if (value === undefined) return paragraph;
      open[open.length - 1] = NO_CONTROL;
      return { ...paragraph, children: [...childrenOf(paragraph, 'w:pPr'), runOf(value)] };
    },
  };
}

/** The cell of a table that is in a content control, as it is read. */
export function cellInControl(cell: XmlElement, { value, isEmpty }: ContentControl): XmlElement {
  if (value === undefined && !isEmpty) return cell;
  const content = { name: 'w:p', attributes: {}, children: [runOf(value ?? '')] };
  return { ...cell, children: [...childrenOf(cell, 'w:tcPr'), content] };
}

const runOf = (text: string): XmlElement => ({
  name: 'w:r',
  attributes: {},
  children: [{ name: 'w:t', attributes: {}, children: [text] }],
});
