import { strToU8, zipSync } from 'fflate';

const NAMESPACES = {
  w: 'http://schemas.openxmlformats.org/wordprocessingml/2006/main',
  p: 'http://schemas.openxmlformats.org/presentationml/2006/main',
  a: 'http://schemas.openxmlformats.org/drawingml/2006/main',
  c: 'http://schemas.openxmlformats.org/drawingml/2006/chart',
  dgm: 'http://schemas.openxmlformats.org/drawingml/2006/diagram',
  r: 'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
  m: 'http://schemas.openxmlformats.org/officeDocument/2006/math',
  xdr: 'http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing',
  wps: 'http://schemas.microsoft.com/office/word/2010/wordprocessingShape',
  mc: 'http://schemas.openxmlformats.org/markup-compatibility/2006',
  v: 'urn:schemas-microsoft-com:vml',
  o: 'urn:schemas-microsoft-com:office:office',
  cp: 'http://schemas.openxmlformats.org/package/2006/metadata/core-properties',
  dc: 'http://purl.org/dc/elements/1.1/',
};
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const declarations = Object.entries(NAMESPACES)
  .map(([prefix, address]) => `xmlns:${prefix}="${address}"`)
  .join(' ');

/** The root element of a part with the namespaces of Office; `attributes` may add the default one. */
export const root = (name: string, content: string, attributes = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?><${name} ${declarations} ${attributes}>${content}</${name}>`;

/** A relation: its id, the last word of its type, and its target. */
export type Relation = readonly [id: string, type: string, target: string];

/** The part with the relations of another one. */
export const relationsPart = (relations: readonly Relation[]): string =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relations
    .map(([id, type, target]) => `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

export interface PackageParts {
  /** Content by the name of the part. */
  readonly parts: Readonly<Record<string, string | Uint8Array>>;
  /** Relations by the name of the part that has them; the empty name is the package. */
  readonly relations?: Readonly<Record<string, readonly Relation[]>>;
}

/** Writes an office package as its applications do. */
export function officePackage({ parts, relations = {} }: PackageParts): Uint8Array {
  const members: Record<string, Uint8Array> = {};
  for (const [name, content] of Object.entries(parts))
    members[name] = typeof content === 'string' ? strToU8(content) : content;
  for (const [part, list] of Object.entries(relations)) {
    const slash = part.lastIndexOf('/') + 1;
    members[`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`] = strToU8(relationsPart(list));
  }
  return zipSync(members, { level: 6 });
}
