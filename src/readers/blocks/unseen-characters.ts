import type { Block } from './block.js';
import type { HiddenCounter } from '../formats/visibility/hidden-counter.js';

/** Most texts hold neither half of a tag nor two selectors in a row. */
const MAY_HOLD = /\udb40|[\ufe00-\ufe0f]{2}/;
/**
 * The flag of a region, which tags spell behind a black flag. Then characters that belong to nothing visible: other tags,
 * and variation selectors behind a first one. Models read in both what people do not see.
 * @see Unicode Technical Standard 51, emoji tag sequences; The Unicode Standard, 23.4 Variation Selectors
 */
const FLAG_OR_UNSEEN =
  /(\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{1,6}\u{e007f})|[\u{e0000}-\u{e007f}]+|(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu;

/** The block without characters that no font shows, unless hidden text is read. */
export function withoutUnseen(block: Block, hidden: HiddenCounter): Block {
  const { text, row } = block;
  if (!MAY_HOLD.test(text) && !(row && MAY_HOLD.test(row.header))) return block;
  const shown = text.replace(FLAG_OR_UNSEEN, (found: string, flag: string | undefined) =>
    flag !== undefined || hidden.accepts('shapeless', { text: found }) ? found : '',
  );
  if (shown === text && !row) return block;
  // Text that names the columns was counted where it stands.
  const isLeftOut = row !== undefined && !hidden.isRead;
  const header = isLeftOut ? row.header.replace(FLAG_OR_UNSEEN, '$1') : row?.header;
  return { ...block, text: shown, ...(header !== undefined && { row: { header } }) };
}
