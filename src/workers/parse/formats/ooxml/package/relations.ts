import { childrenOf } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';

/** A reference of a part to another part of the package. */
export interface Relation {
  readonly id: string;
  /** The last word of the type's address, which is the same in the strict and the transitional variant. */
  readonly type: string;
  /** The name of the part, which is in the package. */
  readonly target: string;
}

interface Parts {
  has(part: string): boolean;
  tree(part: string): XmlElement | undefined;
}

/** Part names ignore the case of letters (ECMA-376 part 2, 6.2.2.3). */
export const partKey = (part: string): string => part.replace(/\\/g, '/').replace(/^\/+/, '').toLowerCase();

/** Reads the relations of a part, or with an empty name those of the package. What points outside is left out. */
export function readRelations(parts: Parts, part: string): readonly Relation[] {
  const slash = part.lastIndexOf('/');
  const folder = part.slice(0, slash + 1);
  const source = `${folder}_rels/${part.slice(slash + 1)}.rels`;
  if (!parts.has(source)) return [];
  const relations: Relation[] = [];
  for (const { attributes } of childrenOf(parts.tree(source), 'Relationship')) {
    const { Id: id = '', Type: type = '', Target: target = '', TargetMode: mode = '' } = attributes;
    const resolved = resolveTarget(folder, target);
    if (mode.toLowerCase() !== 'external' && parts.has(resolved))
      relations.push({ id, type: type.slice(type.lastIndexOf('/') + 1), target: resolved });
  }
  return relations;
}

function resolveTarget(folder: string, target: string): string {
  const [path = ''] = target.replace(/\\/g, '/').split('#');
  const segments: string[] = [];
  for (const segment of (path.startsWith('/') ? path : folder + path).split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '.' && segment !== '') segments.push(segment);
  }
  return decoded(segments.join('/'));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
