import { memberPath } from '../../zip/member-path.js';
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

/** Reads the relations of a part, or with an empty name the relations of the package. Relations to the outside are left out. */
export function readRelations(parts: Parts, part: string): readonly Relation[] {
  const slash = part.lastIndexOf('/');
  const folder = part.slice(0, slash + 1);
  const source = `${folder}_rels/${part.slice(slash + 1)}.rels`;
  if (!parts.has(source)) return [];
  const relations: Relation[] = [];
  for (const { attributes } of childrenOf(parts.tree(source), 'Relationship')) {
    const { Id: id = '', Type: type = '', Target: target = '', TargetMode: mode = '' } = attributes;
    const resolved = memberPath(target, part);
    if (mode.toLowerCase() !== 'external' && parts.has(resolved))
      relations.push({ id, type: type.slice(type.lastIndexOf('/') + 1), target: resolved });
  }
  return relations;
}
