import { textOrEmpty } from '../../../../shared/at.js';
import type { GapCounter } from '../gap-counter.js';
import type { OfficePackage } from '../package/office-package.js';
import type { Unseen } from '../../visibility/hidden-counter.js';
import { findAll, textOf } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';

export type NoteKind = 'footnote' | 'endnote' | 'comment';

export interface PendingNote {
  /** The label before its text. */
  readonly label: string;
  readonly element: XmlElement;
}

export interface Notes {
  /**
   * Notes that a note is referred to. @returns the mark that stands in the text
   * @param unseen the reason why nobody sees the reference, and the note with it
   */
  refer: (kind: NoteKind, id: string, unseen?: Unseen) => string;
  /** The notes that were referred to since the last call, each once. */
  takePending(): PendingNote[];
  /** The notes that nothing refers to. */
  takeRest(): PendingNote[];
}

/** Holds footnotes, endnotes and comments until a paragraph refers to them. */
export function readNotes(
  office: OfficePackage,
  gaps: GapCounter,
  partOf: (type: string) => string | undefined,
): Notes {
  const waiting: Record<NoteKind, Map<string, XmlElement>> = {
    footnote: readPart(office, partOf('footnotes'), 'w:footnote'),
    endnote: readPart(office, partOf('endnotes'), 'w:endnote'),
    comment: readPart(office, partOf('comments'), 'w:comment'),
  };
  const marks = new Map<string, string>();
  let pending: PendingNote[] = [];
  const take: Notes['refer'] = (kind, id, unseen) => {
    const element = waiting[kind].get(id);
    const key = `${kind} ${id}`;
    if (!element) return textOrEmpty(marks, key);
    waiting[kind].delete(id);
    const mark = kind === 'comment' ? '' : `[${String(marks.size + 1)}]`;
    if (kind === 'comment' && !gaps.hidden.accepts('comment')) return '';
    if (kind !== 'comment' && unseen && !gaps.hidden.accepts(unseen, { text: wordsOf(element) })) return '';
    if (kind !== 'comment') marks.set(key, mark);
    pending.push({ label: kind === 'comment' ? 'Comment:' : mark, element });
    return mark;
  };
  const takePending = (): PendingNote[] => {
    const notes = pending;
    pending = [];
    return notes;
  };
  return {
    refer: take,
    takePending,
    takeRest() {
      for (const kind of ['footnote', 'endnote', 'comment'] as const)
        for (const id of [...waiting[kind].keys()]) take(kind, id);
      return takePending();
    },
  };
}

/** The texts of a note, joined. */
function wordsOf(note: XmlElement): string {
  let words = '';
  for (const text of findAll(note, TEXTS)) words += textOf(text);
  return words;
}

const TEXTS: ReadonlySet<string> = new Set(['w:t']);

function readPart(office: OfficePackage, part: string | undefined, name: string): Map<string, XmlElement> {
  const notes = new Map<string, XmlElement>();
  if (part === undefined) return notes;
  for (const event of office.stream(part, (each) => each === name)) {
    if (event.type !== 'element') continue;
    // The lines that separate notes from the text are notes of a type of their own.
    const { 'w:id': id = '', 'w:type': type = 'normal' } = event.element.attributes;
    if (type === 'normal') notes.set(id, event.element);
  }
  return notes;
}
