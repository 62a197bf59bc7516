import type { ReceiptWriter } from '../../extraction/receipt-writer.js';
import type { Destination } from './destinations.js';
import type { RtfParagraphs } from './paragraphs.js';

/** Collects texts that are no part of the body, and puts each to its place when its group ends. */
export interface DestinationTexts {
  add(destination: Destination, text: string): void;
  endGroup(destination: Destination): void;
  /** Adds headers and footers, each once, behind everything else. */
  end(): void;
}

interface Places {
  readonly paragraphs: RtfParagraphs;
  readonly receipt: ReceiptWriter;
}

export function createDestinationTexts({ paragraphs, receipt }: Places): DestinationTexts {
  const texts = new Map<Destination, string[]>();
  const pageTexts = new Set<string>();
  return {
    add: (destination, text) => {
      const parts = texts.get(destination);
      if (parts) parts.push(text);
      else texts.set(destination, [text]);
    },
    endGroup: (destination) => {
      const text = (texts.get(destination) ?? []).join('').trim();
      texts.delete(destination);
      if (text === '') return;
      if (destination === 'title') receipt.setTitle(text);
      else if (destination === 'mark') paragraphs.setMark(text);
      else if (destination === 'page') pageTexts.add(text);
      else if (destination === 'note' || destination === 'comment') paragraphs.addNote(text);
    },
    end: () => {
      for (const text of pageTexts) paragraphs.writer.add({ text });
    },
  };
}
