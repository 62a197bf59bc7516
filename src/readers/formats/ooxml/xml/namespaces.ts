/** The usual prefix of each namespace, in the transitional variant (ECMA-376) and in the strict one. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ...both('wordprocessingml', 'w', 'main'),
  ...both('presentationml', 'p', 'main'),
  ...both('spreadsheetml', 'x', 'main'),
  ...both('drawingml', 'a', 'main'),
  ...both('drawingml', 'c', 'chart'),
  ...both('drawingml', 'dgm', 'diagram'),
  ...both('drawingml', 'wp', 'wordprocessingDrawing'),
  ...both('drawingml', 'xdr', 'spreadsheetDrawing'),
  ...both('drawingml', 'pic', 'picture'),
  ...both('officeDocument', 'r', 'relationships'),
  ...both('officeDocument', 'm', 'math'),
  ['http://schemas.openxmlformats.org/markup-compatibility/2006', 'mc'],
  ['http://schemas.microsoft.com/office/spreadsheetml/2009/9/main', 'x14'],
  ['http://schemas.microsoft.com/office/excel/2006/main', 'xm'],
  ['http://schemas.openxmlformats.org/package/2006/relationships', ''],
  ['http://schemas.openxmlformats.org/package/2006/metadata/core-properties', 'cp'],
  ['http://purl.org/dc/elements/1.1/', 'dc'],
  ['http://schemas.microsoft.com/office/word/2010/wordml', 'w14'],
  ['http://schemas.microsoft.com/office/word/2015/wordml/symex', 'w16se'],
  ['urn:schemas-microsoft-com:vml', 'v'],
  ['urn:schemas-microsoft-com:office:office', 'o'],
]);

function both(language: string, prefix: string, name: string): [string, string][] {
  return [
    [`http://schemas.openxmlformats.org/${language}/2006/${name}`, prefix],
    [`http://purl.oclc.org/ooxml/${language}/${name}`, prefix],
  ];
}

/** A scope is copied where an element adds to it. */
const MAX_PREFIXES = 100;
const MAX_NAMES = 10_000;

type Attributes = Readonly<Record<string, string>>;
type Scope = ReadonlyMap<string, string>;

/** Gives elements and attributes the usual prefixes of their namespaces, whatever prefixes the file has chosen. */
export function createNamespaces() {
  const scopes: { readonly depth: number; readonly before: Scope }[] = [];
  let scope: Scope = new Map();
  let isUsual = true;
  let depth = 0;
  let nameOf = createNaming(scope);
  const change = (next: Scope): void => {
    scope = next;
    isUsual = [...next].every(([prefix, usual]) => prefix === usual || prefix === '');
    nameOf = createNaming(next);
  };
  return {
    open(name: string, attributes: Attributes): { name: string; attributes: Attributes } {
      depth += 1;
      const next = declaredIn(attributes, scope);
      if (next !== scope) {
        scopes.push({ depth, before: scope });
        change(next);
      }
      return { name: nameOf(name), attributes: isUsual ? attributes : renamed(attributes, nameOf) };
    },
    close(): void {
      const last = scopes.at(-1);
      if (last?.depth === depth) {
        scopes.pop();
        change(last.before);
      }
      depth -= 1;
    },
  };
}

function createNaming(scope: Scope): (name: string) => string {
  const names = new Map<string, string>();
  return (name) => {
    const known = names.get(name);
    if (known !== undefined) return known;
    const colon = name.indexOf(':');
    const prefix = name.slice(0, Math.max(0, colon));
    const usual = scope.get(prefix) ?? prefix;
    const named = usual === '' ? name.slice(colon + 1) : `${usual}:${name.slice(colon + 1)}`;
    if (names.size < MAX_NAMES) names.set(name, named);
    return named;
  };
}

function declaredIn(attributes: Attributes, scope: Scope): Scope {
  let next: Map<string, string> | undefined;
  for (const name in attributes) {
    if (!name.startsWith('xmlns')) continue;
    const prefix = name.slice(6);
    const usual = PREFIXES.get(attributes[name] ?? '') ?? prefix;
    if ((scope.get(prefix) ?? prefix) === usual) continue;
    next ??= new Map(scope);
    if (next.size < MAX_PREFIXES) next.set(prefix, usual);
  }
  return next ?? scope;
}

/** An attribute without a prefix has no namespace. */
function renamed(attributes: Attributes, nameOf: (name: string) => string): Attributes {
  const entries = Object.entries(attributes);
  return Object.fromEntries(
    entries.map(([name, value]) => [name.includes(':') ? nameOf(name) : name, value] as const),
  );
}
