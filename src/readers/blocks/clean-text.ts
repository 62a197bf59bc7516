import { decodeAs } from '../encoding/decode-as.js';

const MAY_HOLD_CONTROLS = /[\0-\u0008\u000e-\u001f\u007f-\u009f]/;
/** Sequences that terminals obey: colours and places, links and titles, and sets of characters (ECMA-48, 5). */
const COMMAND =
  /\u001b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\u0007\u001b]{0,2000}(?:\u0007|\u001b\\)|[ -/]{0,4}[0-Z\\^-~])/g;
/** A letter that another one is printed upon: manual pages are bold and underlined so. */
const OVERSTRUCK = /[^\n\u0008]\u0008/gu;
/** Separators of the fields and records of old files: the text on their two sides is never one word. */
const SEPARATOR = /[\u001c-\u001f]/g;
/** The last five are no letters of windows-1252 either. */
const CONTROL = /[\0-\u0008\u000e-\u001b\u007f\u0081\u008d\u008f\u0090\u009d]/g;
/** Letters of windows-1252 that a program has taken for ISO 8859-1, where they are controls. NEL is a line end. */
const MISTAKEN = /[\u0080-\u0084\u0086-\u009f]/g;

/**
 * Removes characters that no reader of a text sees and that stores and models do not accept: control characters, sequences
 * for terminals, lone surrogates and, at the start of a document, the byte order mark.
 */
export function cleanText(text: string, isStart = true): string {
  const shown = MAY_HOLD_CONTROLS.test(text) ? withoutControls(text) : text;
  return (isStart ? shown.replace(/^\ufeff/, '') : shown).toWellFormed();
}

const withoutControls = (text: string): string =>
  text
    .replace(COMMAND, '')
    .replace(OVERSTRUCK, '')
    .replace(SEPARATOR, ' ')
    .replace(CONTROL, '')
    .replace(MISTAKEN, (sign) => decodeAs(Buffer.from(sign, 'latin1'), 'windows-1252'));
