import type { ReadContext } from '../../parser.js';
import { childOf, textOf } from './xml/elements.js';
import type { OfficePackage } from './package/office-package.js';

/** Titles that applications write where nobody has given one. */
const DEFAULT_TITLES: ReadonlySet<string> = new Set(['PowerPoint Presentation', 'Slide 1', 'Word Document']);

/** Notes the title and the language that the package states, and the name of this reader. */
export function readProperties(office: OfficePackage, { receipt }: ReadContext): void {
  receipt.setParser('ooxml', '1');
  const part = office.relations('').find(({ type }) => type === 'core-properties')?.target;
  const core = office.tree(part ?? 'docProps/core.xml');
  const title = textOf(childOf(core, 'dc:title')).trim();
  const language = textOf(childOf(core, 'dc:language')).trim();
  if (title !== '' && !DEFAULT_TITLES.has(title)) receipt.setTitle(title);
  if (language !== '') receipt.setLanguage(language);
}
