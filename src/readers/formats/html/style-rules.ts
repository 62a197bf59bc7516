import { protectedName, UNKNOWN, type Declarations } from './declarations.js';
import { subjectKey, specificityOf, type Subject } from './selectors.js';
import type { StyleSheet } from './style-sheet.js';

const MAX_RULES = 2_000;
const MAX_RULES_OF_A_KEY = 8;
const NOTHING: Declarations = new Map();

interface Rule {
  readonly subject: Subject;
  /** The values of properties, and the number of the rule that declared each last. */
  readonly declarations: Map<string, { readonly value: string; readonly order: number }>;
}

export interface StyleRules {
  add(sheet: StyleSheet): void;
  /** Says that there are style sheets that cannot be read. */
  addUnread(): void;
  /** Returns the declarations of the rules for an element. Properties that unread rules may change are unknown. */
  match(element: string, id: string, className: string): Declarations;
}

interface Rules {
  readonly bySelector: Map<string, Rule>;
  readonly byKey: Map<string, Rule[]>;
  /** Properties that rules may change that may hold or not, by the keys of these rules. */
  readonly vague: Map<string, Set<string>>;
  readonly known: Map<string, Declarations>;
  readonly sheets: Set<StyleSheet>;
  order: number;
  isUnread: boolean;
}

/**
 * Collects rules of style sheets. Rules are followed whose selectors are an element, classes and an id alone. Of other
 * rules, and of rules that hold on some screens, only the properties are noted that they may change of which elements.
 */
export function createStyleRules(): StyleRules {
  const rules: Rules = {
    bySelector: new Map(),
    byKey: new Map(),
    vague: new Map(),
    known: new Map(),
    sheets: new Set(),
    order: 0,
    isUnread: false,
  };
  return {
    add: (sheet) => addSheet(rules, sheet),
    addUnread: () => {
      rules.isUnread = true;
      rules.known.clear();
    },
    match: (element, id, className) => {
      if (rules.sheets.size === 0 && !rules.isUnread) return NOTHING;
      const key = `${element} ${id} ${className}`;
      const found = rules.known.get(key) ?? matchRules(rules, { element, id, className });
      if (rules.known.size < MAX_RULES) rules.known.set(key, found);
      return found;
    },
  };
}

function addSheet(rules: Rules, sheet: StyleSheet): void {
  if (rules.sheets.has(sheet)) return;
  rules.sheets.add(sheet);
  rules.known.clear();
  rules.isUnread ||= sheet.isCut;
  for (const { subjects, declarations, isVague } of sheet.rules) {
    rules.order += 1;
    for (const subject of subjects)
      if (isVague || subject.isVague || !addRule(rules, subject, declarations))
        addVague(rules, subject, declarations);
  }
}

/** Returns false where there are too many rules. */
function addRule({ bySelector, byKey, order }: Rules, subject: Subject, declarations: Declarations): boolean {
  const { element, id, classes } = subject;
  const selector = `${element}#${id}.${classes.join('.')}`;
  const known = bySelector.get(selector);
  const rule: Rule = known ?? { subject, declarations: new Map() };
  if (!known) {
    const key = subjectKey(subject);
    const same = byKey.get(key) ?? [];
    if (bySelector.size >= MAX_RULES || same.length >= MAX_RULES_OF_A_KEY) return false;
    bySelector.set(selector, rule);
    byKey.set(key, [...same, rule]);
  }
  for (const [property, value] of declarations) rule.declarations.set(property, { value, order });
  return true;
}

/** Values that hide. Where another rule hides already, a rule that may hold and hides changes nothing. */
const HIDING = /^display!?:none$|^visibility!?:(?:hidden|collapse)$|^opacity!?:[0.]+%?$/;

function addVague({ vague }: Rules, subject: Subject, declarations: Declarations): void {
  const key = subjectKey(subject);
  const properties = vague.get(key) ?? new Set();
  vague.set(key, properties);
  for (const [property, value] of declarations)
    if (subject.isBeside) {
      if (property.startsWith('background')) properties.add('background-color');
    } else if (!HIDING.test(`${property}:${value}`)) properties.add(property);
}

function matchRules(
  { byKey, vague, isUnread }: Rules,
  { element, id, className }: { element: string; id: string; className: string },
): Declarations {
  const classes = new Set(protectedName(className).split(/\s+/));
  const keys = new Set([element, '*', ...Array.from(classes, (name) => `.${name}`), `#${protectedName(id)}`]);
  const matching = [...keys]
    .flatMap((key) => byKey.get(key) ?? [])
    .filter(({ subject }) => isMatch(subject, { element, id: protectedName(id), classes }))
    .flatMap(({ subject, declarations }) =>
      Array.from(declarations, ([property, declared]) => ({
        property,
        ...declared,
        specificity: specificityOf(subject),
      })),
    )
    .sort((left, right) => left.specificity - right.specificity || left.order - right.order);
  const values = new Map(matching.map(({ property, value }) => [property, isUnread ? UNKNOWN : value]));
  for (const key of keys) for (const property of vague.get(key) ?? []) values.set(property, UNKNOWN);
  // Readers of the page may open an element that changes by and by.
  if (isUnread) for (const property of ['background-color', 'transition']) values.set(property, UNKNOWN);
  return values;
}

const isMatch = (
  subject: Subject,
  { element, id, classes }: { element: string; id: string; classes: ReadonlySet<string> },
): boolean =>
  (subject.element === '' || subject.element === element) &&
  (subject.id === '' || subject.id === id) &&
  subject.classes.every((name) => classes.has(name));
