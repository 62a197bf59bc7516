import { textOrEmpty } from '../../../shared/at.js';
import { attribute, type Attributes } from '../xml/read-markup.js';
import { checkMark, chosenText } from './controls.js';

/** Collects the controls of the forms of an OpenDocument file, which are told before the text that they stand in. */
export interface OdfControls {
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  /** Returns the text that a control shows, with its label; empty where there is none, or nobody may read it. */
  textOf(id: string): string;
}

const FIELDS = new Set([
  'form:text',
  'form:textarea',
  'form:formatted-text',
  'form:number',
  'form:date',
  'form:time',
  'form:combobox',
]);
const LABELS = new Set(['form:fixed-text', 'form:frame']);
const MAX_CONTROLS = 10_000;
const MAX_OPTIONS = 1_000;

export function createOdfControls(): OdfControls {
  const texts = new Map<string, string>();
  let list: { readonly id: string; readonly chosen: string[] } | undefined;
  const put = (id: string, text: string): void => {
    if (texts.size < MAX_CONTROLS) texts.set(id, text);
  };
  return {
    open: (name, attributes) => {
      if (!name.startsWith('form:')) return;
      const id = attribute(attributes, 'form:id', 'xml:id');
      if (name === 'form:listbox') list = { id, chosen: [] };
      else if (name === 'form:option' && list && isChosen(attributes) && list.chosen.length < MAX_OPTIONS)
        list.chosen.push(attribute(attributes, 'form:label'));
      else put(id, shownText(name, attributes));
    },
    close: (name) => {
      if (name !== 'form:listbox' || !list) return;
      put(list.id, chosenText(list.chosen));
      list = undefined;
    },
    textOf: (id) => textOrEmpty(texts, id),
  };
}

const isChosen = (attributes: Attributes): boolean =>
  (attributes['form:current-selected'] ?? attributes['form:selected']) === 'true';

function shownText(name: string, attributes: Attributes): string {
  const label = attribute(attributes, 'form:label');
  if (name === 'form:checkbox' || name === 'form:radio') {
    const state = attributes['form:current-state'] ?? attributes['form:state'];
    const isOn = name === 'form:radio' ? isChosen(attributes) : state === 'checked';
    return `${checkMark(isOn ? 'on' : 'off')} ${label}`.trim();
  }
  if (FIELDS.has(name)) return attribute(attributes, 'form:current-value', 'form:value');
  return LABELS.has(name) ? label : '';
}

/** Follows the form fields of old within text, which LibreOffice keeps as it finds them in Word files. */
export interface FieldMarks {
  open(name: string, attributes: Attributes): void;
  /** Returns the text of a field that has ended; empty when another element has ended. */
  close(name: string): string;
}

export function createFieldMarks(): FieldMarks {
  let type = '';
  let parameters: (readonly [name: string, value: string])[] = [];
  return {
    open: (name, attributes) => {
      if (name === 'field:fieldmark') {
        type = attribute(attributes, 'field:type');
        parameters = [];
      } else if (name === 'field:param' && parameters.length < MAX_OPTIONS)
        parameters.push([attribute(attributes, 'field:name'), attribute(attributes, 'field:value')]);
    },
    close: (name) => {
      if (name !== 'field:fieldmark') return '';
      const valueOf = (key: string): string | undefined => parameters.find(([each]) => each === key)?.[1];
      if (type.endsWith('FORMCHECKBOX'))
        return checkMark(valueOf('Checkbox_Checked') === 'true' ? 'on' : 'off');
      if (!type.endsWith('FORMDROPDOWN')) return '';
      const entries = parameters.filter(([key]) => key === 'Dropdown_ListEntry');
      return entries[Number.parseInt(valueOf('Dropdown_Selected') ?? '0', 10)]?.[1] ?? '';
    },
  };
}

/**
 * Returns the text that a content control shows (an extension of LibreOffice); undefined for a control that shows its own
 * text.
 */
export function contentControlText(attributes: Attributes): string | undefined {
  if (attributes['loext:checkbox'] === 'true')
    return checkMark(attributes['loext:checked'] === 'true' ? 'on' : 'off');
  return attributes['loext:showing-place-holder'] === 'true' ? '' : undefined;
}
