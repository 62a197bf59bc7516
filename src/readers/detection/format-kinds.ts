/** What all files of a format have in common. */
export interface FormatFacts {
  /** What the bytes are: `text` in some encoding, `zip`, or `binary`, which never looks like text, however broken. */
  readonly container: 'text' | 'zip' | 'binary';
  /** Whether a file of blanks is an empty document. */
  readonly isEmptyWhenBlank: boolean;
  /** Whether it takes time by its length alone to read, so that short ones need not wait behind slow files. */
  readonly isLinear: boolean;
  /** Whether repetitive text may be a hundred times as long as the file; its reader bounds what it inflates. */
  readonly isCompressed: boolean;
  /** Whether compiled code reads it, which it may crash or take over. */
  readonly isNative: boolean;
  /** Whether its pages can be shown as pictures. */
  readonly hasPages: boolean;
}

const TEXT = {
  container: 'text',
  isEmptyWhenBlank: false,
  isLinear: false,
  isCompressed: false,
  isNative: false,
  hasPages: false,
} as const satisfies FormatFacts;

/** What formats have in common. Each format is of one kind, so that a new one cannot be without any of these facts. */
export const FORMAT_KINDS = {
  plain: { ...TEXT, isEmptyWhenBlank: true, isLinear: true },
  text: TEXT,
  binary: { ...TEXT, container: 'binary' },
  package: { ...TEXT, container: 'zip', isCompressed: true },
  pages: { ...TEXT, container: 'binary', isCompressed: true, isNative: true, hasPages: true },
  picture: { ...TEXT, container: 'binary', isNative: true, hasPages: true },
} as const satisfies Readonly<Record<string, FormatFacts>>;

export type FormatKind = keyof typeof FORMAT_KINDS;
