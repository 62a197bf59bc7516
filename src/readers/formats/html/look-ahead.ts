import type { ParserOptions } from 'htmlparser2';
import { ShallowParser } from '../shallow-parser.js';
import { isCountdown, LISTS, type HtmlLists } from './html-lists.js';
import type { VisibilityTracker } from './visibility.js';

type Options = ParserOptions & { readonly dropped: ReadonlySet<string> };

/** Takes the facts from a page that must be known before its text is read: styles, and how many items there are. */
export function lookAhead(
  { visibility, lists }: { readonly visibility: VisibilityTracker | undefined; readonly lists: HtmlLists },
  markup: string,
  options: Options,
): void {
  if (visibility) collectStyles(markup, visibility, options);
  lists.countDown(countReversed(markup, options));
}

/** Adds all style sheets of a page, including sheets behind its text. */
function collectStyles(markup: string, visibility: VisibilityTracker, options: Options): void {
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

/** Counts the items of each list that counts down to 1, in the order in which these lists begin. */
function countReversed(markup: string, options: Options): number[] {
  if (!/<ol[^<>]{0,1000}\sreversed/i.test(markup)) return [];
  const counts: { items: number }[] = [];
  const open: { items: number }[] = [];
  let dropped = 0;
  const parser = new ShallowParser(
    {
      onopentag: (name, attributes) => {
        if (options.dropped.has(name)) dropped += 1;
        if (dropped > 0) return;
        const list = open.at(-1);
        if (name === 'li' && list) list.items += 1;
        if (!LISTS.has(name)) return;
        const count = { items: 0 };
        open.push(count);
        if (isCountdown(name, attributes)) counts.push(count);
      },
      onclosetag: (name) => {
        if (options.dropped.has(name)) dropped -= 1;
        else if (dropped === 0 && LISTS.has(name)) open.pop();
      },
      ontext: () => undefined,
    },
    options,
  );
  parser.end(markup);
  return counts.map(({ items }) => items);
}
