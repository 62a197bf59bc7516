import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { writePieces, type Piece } from '../baseline/pieces.js';
import type { Destination } from './destinations.js';
import type { RtfFormField } from '../forms/rtf-field.js';
import type { RtfParagraphs } from './paragraphs.js';

/** Collects texts that are no part of the body, and puts each to its place when its group ends. */
export interface DestinationTexts {
  add(destination: Destination, piece: Piece): void;
  endGroup(destination: Destination): void;
  /** Adds headers and footers, each once, behind everything else. */
  end(): void;
}

interface Places {
  readonly form: RtfFormField;
  readonly paragraphs: RtfParagraphs;
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
