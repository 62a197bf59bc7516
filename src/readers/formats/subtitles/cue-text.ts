import { oneLine } from '../../blocks/one-line.js';

const VOICE = /^v(?:\.[^\s<>]{0,100})?\s([^<>]+)$/;

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['lrm', ''],
  ['rlm', ''],
]);

/** Returns a function that makes text of lines with marks. It names a voice when another one begins to speak. */
export function createCueText(): (line: string) => string {
  let speaker = '';
  return (line) => {
    const text = line
      .replace(/\{\\[^{}]{0,100}\}/g, '')
      .replace(/<(\/?[a-z][^<>]{0,200}|\d[\d:.]{0,20})>/gi, (_, mark: string) => {
        const name = VOICE.exec(mark)?.[1]?.trim() ?? speaker;
        if (name === speaker) return '';
        speaker = name;
        return `${name}: `;
      });
    return oneLine(withoutEntities(text));
  };
}

/** The entities of WebVTT; `&#` with a number is in files that were HTML once. */
const withoutEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,6})|([a-z]{2,5}));/g, (whole, code: string | undefined, name: string) =>
    code === undefined ? (ENTITIES.get(name) ?? whole) : String.fromCodePoint(Number(code)),
  );
