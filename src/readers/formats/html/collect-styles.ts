import type { ParserOptions } from 'htmlparser2';
import { ShallowParser } from '../shallow-parser.js';
import type { VisibilityTracker } from './visibility.js';

/** Adds all style sheets of a page, including sheets behind its text. */
export function collectStyles(
  markup: string,
  visibility: VisibilityTracker,
  options: ParserOptions & { readonly dropped: ReadonlySet<string> },
): void {
  if (!/<(?:style|link)/i.test(markup)) return;
  let style: { readonly parts: string[]; readonly media: string | undefined } | undefined;
  let templates = 0;
  const parser = new ShallowParser(
    {
      onopentag: (name, attributes) => {
        if (name === 'template') templates += 1;
        if (name === 'link') visibility.addLink(attributes);
        if (name === 'style' && templates === 0) style = { parts: [], media: attributes['media'] };
      },
      onclosetag: (name) => {
        if (name === 'template') templates -= 1;
        if (name !== 'style') return;
        if (style) visibility.addStyles(style.parts.join(''), style.media);
        style = undefined;
      },
      ontext: (text) => {
        style?.parts.push(text);
      },
    },
    options,
  );
  parser.end(markup);
}
