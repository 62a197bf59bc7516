import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { writePieces, type Piece } from '../baseline/pieces.js';
import type { RtfFormField } from '../forms/rtf-field.js';
import type { Paragraphs } from './paragraphs.js';

/** The purpose of a group's text. */
export type Destination =
  | 'body'
  | 'ignored'
  | 'fonts'
  | 'colors'
  | 'styles'
  | 'title'
  | 'mark'
  | 'note'
  | 'page'
  | 'comment'
  | 'form'
  | 'formitem';

/** The groups whose text is not simply a part of their outer group. */
const DESTINATIONS: ReadonlyMap<string, Destination> = new Map([
  ['fonttbl', 'fonts'],
  ['colortbl', 'colors'],
  ['stylesheet', 'styles'],
  ['title', 'title'],
  ['listtext', 'mark'],
  ['pntext', 'mark'],
  ['footnote', 'note'],
  ['annotation', 'comment'],
  ['formfield', 'form'],
  ['ffl', 'formitem'],
  ...['header', 'headerl', 'headerr', 'headerf', 'footer', 'footerl', 'footerr', 'footerf'].map(
    (word) => [word, 'page'] as const,
  ),
  ...[
    'info author operator subject keywords doccomm company manager category hlinkbase comment',
    'pict nonshppict shprslt objdata themedata colorschememapping datastore fldinst sp filetbl',
    'xe tc rxe ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn nonesttables mmathPict template private',
    'falt panose fontemb fontfile listtable listoverridetable revtbl rsidtbl generator xmlnstbl latentstyles',
    'pgptbl bkmkstart bkmkend atnid atnauthor atntime atnref atndate atnicn datafield ud',
  ]
    .join(' ')
    .split(' ')
    .map((word) => [word, 'ignored'] as const),
]);

/** Groups that begin with a mark which lets readers skip them, and that hold text nevertheless. */
const READ_THOUGH_OPTIONAL = new Set(
  (
    'shpinst shptxt do dptxbxtext annotation ' +
    // Formulas, and their parts.
    'mmath moMathPara moMath mr mf mnum mden mrad mdeg me msSup msSub msSubSup msPre msup msub mnary md mfunc mfName ' +
    'mlimLow mlimUpp mlim macc mbar mbox mborderBox mgroupChr mm mmr meqArr'
  ).split(' '),
);

/** @param isOptional whether the group says that readers may skip it when they do not know it */
export function destinationOf(word: string, isOptional: boolean): Destination | undefined {
  const known = DESTINATIONS.get(word);
  if (known !== undefined || !isOptional) return known;
  return READ_THOUGH_OPTIONAL.has(word) ? undefined : 'ignored';
}

/** Collects texts that are no part of the body, and puts each to its place when its group ends. */
export interface DestinationTexts {
  add(destination: Destination, piece: Piece): void;
  endGroup(destination: Destination): void;
  /** Adds headers and footers, each once, behind everything else. */
  end(): void;
}

interface Places {
  readonly form: RtfFormField;
  readonly paragraphs: Paragraphs;
  readonly receipt: ReceiptWriter;
}

export function createDestinationTexts({ form, paragraphs, receipt }: Places): DestinationTexts {
  const texts = new Map<Destination, Piece[]>();
  const pageTexts = new Set<string>();
  return {
    add: (destination, piece) => {
      const pieces = texts.get(destination);
      if (pieces) pieces.push(piece);
      else texts.set(destination, [piece]);
    },
    endGroup: (destination) => {
      const text = writePieces(texts.get(destination) ?? []).trim();
      texts.delete(destination);
      if (text === '') return;
      if (destination === 'title') receipt.setTitle(text);
      else if (destination === 'mark') paragraphs.setMark(text);
      else if (destination === 'formitem') form.addEntry(text);
      else if (destination === 'page') pageTexts.add(text);
      else if (destination === 'note' || destination === 'comment') paragraphs.addNote(text);
    },
    end: () => {
      for (const text of pageTexts) paragraphs.writer.add({ text });
    },
  };
}

/**
 * Follows a property of a shape, `{\sp{\sn fHidden}{\sv 1}}` (RTF 1.9.1, "Drawing Object Properties"), which stands before
 * the text of the shape.
 */
export interface ShapeProperty {
  begin(): void;
  /** Heeds a control word within a property. */
  control(word: string): void;
  bytes(bytes: Uint8Array): void;
  /** Ends the property. Tells whether it says that the shape is hidden. */
  end(): boolean;
}

/** Names and values of other properties may be long. */
const MAX_PROPERTY_CHARACTERS = 20;

export function createShapeProperty(): ShapeProperty {
  let texts: { sn: string; sv: string } | undefined;
  let part: 'sn' | 'sv' | undefined;
  return {
    begin: () => {
      texts = { sn: '', sv: '' };
      part = undefined;
    },
    control: (word) => {
      if (texts) part = word === 'sn' || word === 'sv' ? word : undefined;
    },
    bytes: (bytes) => {
      if (texts && part && texts[part].length < MAX_PROPERTY_CHARACTERS)
        texts[part] += Buffer.from(bytes.subarray(0, MAX_PROPERTY_CHARACTERS)).toString('latin1');
    },
    end: () => {
      const isHidden = texts?.sn.trim() === 'fHidden' && Number(texts.sv) === 1;
      texts = undefined;
      return isHidden;
    },
  };
}
