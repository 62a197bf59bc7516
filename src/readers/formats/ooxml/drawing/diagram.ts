import type { SignReader } from '../../signs/sign-reader.js';
import type { OfficePackage } from '../package/office-package.js';
import { childOf, childrenOf, descend, findFirst } from '../xml/elements.js';
import { readTextBody } from './text-body.js';

/** The texts of a diagram (SmartArt), from the part with its data, an item for each shape. */
export function readDiagram(office: OfficePackage, part: string, signs: SignReader): string[] {
  const tree = office.tree(part);
  const points = childOf(tree, 'dgm:ptLst') ?? findFirst(tree, 'dgm:ptLst');
  return [...childrenOf(points, 'dgm:pt')]
    .map((point) => readTextBody(descend(point, 'dgm:t'), { signs }).join(' '))
    .filter((text) => text !== '')
    .map((text) => `- ${text}`);
}
