import { lookUp } from '../../../shared/at.js';
import { attribute } from '../xml/read-markup.js';
import type { Block } from '../../blocks/block.js';
import type { ReadContext } from '../../parser.js';
import { createGapCounter } from './gap-counter.js';
import { damaged, EXCEL } from './package/office-kind.js';
import { openPackage, type OfficePackage } from './package/office-package.js';
import { readProperties } from './properties.js';
import { createDressedCells } from './sheets/readable-text.js';
import { readRanges } from './sheets/merged-ranges.js';
import { readSharedStrings } from './sheets/shared-strings.js';
import { extraBlocks, statedHeaderRows } from './sheets/sheet-extras.js';
import { readRows, type Workbook } from './sheets/sheet-rows.js';
import { sheetBlocks } from './sheets/sheet-tables.js';
import { readStyles } from './sheets/styles.js';
import { childOf, childrenOf, isTrue } from './xml/elements.js';
import type { XmlElement } from './xml/stream-xml.js';

interface Sheet {
  readonly name: string;
  readonly part: string;
  readonly type: string;
  readonly isHidden: boolean;
}

/** Parses Excel (xlsx) sheet by sheet, each cell as it is shown, rows under the names of their columns. */
export function* parseXlsx(bytes: Uint8Array, context: ReadContext): Iterable<Block> {
  const { receipt } = context;
  const office = openPackage(bytes, EXCEL, context);
  readProperties(office, context);
  const tree = office.tree(office.mainPart);
  const { sheets, missing } = findSheets(office, tree);
  receipt.setParts('sheet', sheets.length + missing.length);
  const workbook = openWorkbook(office, tree, context);
  let hasText = false;
  for (const sheet of sheets) {
    const location = { sheet: sheet.name };
    if (sheet.isHidden && !workbook.gaps.hidden.accepts('sheet', { location })) continue;
    let isEmpty = true;
    for (const block of readSheet(workbook, sheet)) {
      if (isEmpty) yield headingOf(sheet);
      isEmpty = false;
      yield block;
    }
    receipt.addPartRead();
    if (isEmpty) receipt.addGap('empty', 'The sheet is empty.', location);
    hasText ||= !isEmpty;
  }
  if (!hasText && (office.isDamaged() || missing.length > 0)) throw damaged(EXCEL);
  for (const sheet of missing) receipt.addGap('unreadable', 'The sheet is missing in the file.', { sheet });
  workbook.gaps.finish();
}

function headingOf({ name, isHidden }: Sheet): Block {
  return {
    text: `${name}${isHidden ? ' (hidden)' : ''}\n\n`,
    heading: 1,
    isPart: true,
    place: { sheet: name },
  };
}

function openWorkbook(office: OfficePackage, tree: XmlElement | undefined, context: ReadContext): Workbook {
  const partOf = (type: string, usual: string): string | undefined =>
    office.relations(office.mainPart).find((relation) => relation.type === type)?.target ??
    (office.has(usual) ? usual : undefined);
  const system = { is1904: isTrue(childOf(tree, 'x:workbookPr')?.attributes['date1904']) };
  const parts = { styles: partOf('styles', 'xl/styles.xml'), theme: partOf('theme', 'xl/theme/theme1.xml') };
  const styles = readStyles(office, parts, system);
  const strings = partOf('sharedStrings', 'xl/sharedStrings.xml');
  return {
    office,
    system,
    styles,
    strings: readSharedStrings(office, strings, (properties) => styles.font(properties)),
    gaps: createGapCounter(context),
  };
}

interface Sheets {
  readonly sheets: readonly Sheet[];
  /** The names of the sheets that the workbook has and the package lacks. */
  readonly missing: readonly string[];
}

/** The sheets in the order of their tabs, or by the names of their parts when the workbook names none. */
function findSheets(office: OfficePackage, workbook: XmlElement | undefined): Sheets {
  const relations = new Map(office.relations(office.mainPart).map((relation) => [relation.id, relation]));
  const listed = new Map<string, Sheet>();
  const missing: string[] = [];
  for (const { attributes } of childrenOf(childOf(workbook, 'x:sheets'), 'x:sheet')) {
    const name = attribute(attributes, 'name');
    const relation = lookUp(relations, attributes['r:id']);
    const isHidden = (attributes['state'] ?? 'visible') !== 'visible';
    if (!relation || !office.has(relation.target)) missing.push(name);
    else listed.set(relation.target, { name, part: relation.target, type: relation.type, isHidden });
  }
  if (listed.size > 0) return { sheets: [...listed.values()], missing };
  const sheets = office.names
    .filter((name) => /^xl\/worksheets\/[^/]+\.xml$/.test(name))
    .map((part, index) => ({ name: `Sheet${String(index + 1)}`, part, type: 'worksheet', isHidden: false }));
  return { sheets, missing: sheets.length > 0 ? [] : missing };
}

function* readSheet(workbook: Workbook, { name, part, type }: Sheet): Iterable<Block> {
  // Sheets of charts and dialogs have no cells.
  if (type === 'worksheet') {
    const { merged, conditional } = readRanges(workbook.office, part);
    const dressed = createDressedCells(workbook.office, part, conditional);
    const headerRows = statedHeaderRows(workbook, part);
    yield* sheetBlocks(readRows(workbook, { part, sheet: name, dressed, merged }), {
      sheet: name,
      merged,
      headerRows,
    });
  }
  yield* extraBlocks(workbook, part, name);
}
