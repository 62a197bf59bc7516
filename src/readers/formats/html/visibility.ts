import { attribute, type Attributes } from '../xml/read-markup.js';
import type { Shift } from '../baseline/shift.js';
import { LISTS } from './html-lists.js';
import { valueOrEmpty, parseDeclarations, UNKNOWN, type Declarations } from './declarations.js';
import type { Unseen } from '../visibility/hidden-counter.js';
import { reasonUnseen } from '../visibility/reason-unseen.js';
import { isUndrawn, lookWithin, PAGE, styleOf, type Look } from './look.js';
import { styledShift } from './shifts.js';
import { createStyleRules, type StyleRules } from './style-rules.js';
import { parseStyleSheet, type StyleSheet } from './style-sheet.js';

/** Follows open elements, and tells why text in them is not shown. */
export interface VisibilityTracker {
  open(name: string, attributes: Attributes): void;
  close(): void;
  /** Returns the reason why text here is not shown; undefined when it is shown. */
  reason(): Unseen | undefined;
  /** Returns the shift that styles alone give the element that was opened last. */
  shift(): Shift | undefined;
  /** The font that text is in here, as far as it is known. */
  font(): string | undefined;
  /** Returns the mark of a list item here by its styles; undefined where no style sets one. */
  listStyle(): string | undefined;
  /** Adds the content of a `style` element. */
  addStyles(css: string, media: string | undefined): void;
  /** Adds the sheet that a `link` element names, if it names one. */
  addLink(attributes: Attributes): void;
}

/** Finds a style sheet by the reference to it. */
export type LoadStyleSheet = (reference: string) => StyleSheet | undefined;

/**
 * Style sheets hold for the whole page, so they are added before the first element is opened.
 * @param loadSheet returns a style sheet that markup links to; undefined where it cannot be read
 */
export function createVisibility(loadSheet?: LoadStyleSheet): VisibilityTracker {
  const rules = createStyleRules();
  const looks: Look[] = [];
  const last = (): Look => looks.at(-1) ?? PAGE;
  let shift: Shift | undefined;
  return {
    open: (name, attributes) => {
      if (looks.length === 0) looks.push(pageLook(rules));
      const declared = declarationsOf(rules, name, attributes);
      shift = styledShift(name, declared);
      looks.push(declared.size === 0 && !LISTS.has(name) ? last() : lookWithin(last(), declared, name));
      const isLoose = ['absolute', 'fixed'].includes(valueOrEmpty(declared, 'position'));
      // The following elements may lie upon an element that is out of the flow.
      const around = looks.at(-2);
      if (isLoose && around && !isUndrawn(last()))
        looks[looks.length - 2] = { ...around, background: undefined };
    },
    close: () => {
      if (looks.length > 1) looks.pop();
    },
    reason: () => reasonUnseen(styleOf(last())),
    shift: () => shift,
    font: () => last().font,
    listStyle: () => last().listStyle,
    addStyles: (css, media = '') =>
      rules.add(parseStyleSheet(media.trim() === '' ? css : `@media ${media} {${css}}`)),
    addLink: (attributes) => {
      if (!isStyleSheet(attributes)) return;
      const sheet = isPlain(attributes) ? loadSheet?.(attribute(attributes, 'href')) : undefined;
      if (sheet) rules.add(sheet);
      else rules.addUnread();
    },
  };
}

const isStyleSheet = ({ rel = '', media = '' }: Attributes): boolean =>
  rel.toLowerCase().split(/\s+/).includes('stylesheet') && !/^\s*(?:print|speech)\s*$/i.test(media);

/** Tells whether a linked sheet holds on every screen. */
const isPlain = ({ rel = '', media = '' }: Attributes): boolean =>
  !/alternate/i.test(rel) && /^(?:all|screen)?$/i.test(media.trim());

/** The page as the rules for its root and its body fill it, which are there without their tags, too. */
function pageLook(rules: StyleRules): Look {
  const root = lookWithin(PAGE, rules.match('html', '', ''), 'html');
  const { background } = lookWithin(
    { ...PAGE, background: root.background },
    rules.match('body', '', ''),
    'body',
  );
  return { ...PAGE, rootSize: root.rootSize, background };
}

function declarationsOf(rules: StyleRules, name: string, attributes: Attributes): Declarations {
  const { id = '', class: className = '', style } = attributes;
  const ruled = rules.match(name, id, className);
  const own = style === undefined ? [] : parseDeclarations(style);
  const declared = new Map([...ruled, ...own]);
  for (const [property, value] of declared)
    if (property.endsWith('!')) declared.set(property.slice(0, -1), value);
  addAttributes(declared, attributes);
  if (!declared.has('display') && isUnshown(name, attributes)) declared.set('display', 'none');
  return declared;
}

/** Elements whose content only programs show that do not know them. */
const FALLBACKS = new Set(['audio', 'video', 'meter', 'progress', 'noembed', 'noframes']);

/** Tells whether browsers show nothing of an element unless a style or a script says so. */
const isUnshown = (name: string, { open, popover }: Attributes): boolean =>
  FALLBACKS.has(name) || popover !== undefined || (name === 'dialog' && open === undefined);

function addAttributes(declared: Map<string, string>, attributes: Attributes): void {
  if (attributes['hidden'] !== undefined && !declared.has('display')) declared.set('display', 'none');
  const { bgcolor, color, background, face } = attributes;
  if (face !== undefined && (declared.get('font-family') ?? UNKNOWN) === UNKNOWN)
    declared.set('font-family', face);
  if (bgcolor !== undefined && !declared.has('background-color'))
    declared.set('background-color', bgcolor.toLowerCase());
  if (background !== undefined) declared.set('background-image', 'url()');
  if (color !== undefined && !declared.has('color')) declared.set('color', color.toLowerCase());
}
