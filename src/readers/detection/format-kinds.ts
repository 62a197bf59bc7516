/** The facts that all files of a format share. */
export interface FormatFacts {
  /** The nature of the bytes: `text` in some encoding, `zip`, or `binary`, which never looks like text, however broken. */
  readonly container: 'text' | 'zip' | 'binary';
  /** True if a file of blanks is an empty document. */
  readonly isEmptyWhenBlank: boolean;
  /** True if the time that a file takes depends on its length alone, so that short files need not wait behind slow ones. */
  readonly isLinear: boolean;
  /** True if repetitive text may be a hundred times as long as the file; the reader bounds the inflated bytes. */
  readonly isCompressed: boolean;
  /** True if compiled code reads the format, which a file may crash or take over. */
  readonly isNative: boolean;
  /** True if the pages can be shown as pictures. */
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

/** The kinds of formats with their facts. Each format is of one kind, so that a new one cannot lack any of these facts. */
export const FORMAT_KINDS = {
  plain: { ...TEXT, isEmptyWhenBlank: true, isLinear: true },
  text: TEXT,
  binary: { ...TEXT, container: 'binary' },
  package: { ...TEXT, container: 'zip', isCompressed: true },
  pages: { ...TEXT, container: 'binary', isCompressed: true, isNative: true, hasPages: true },
  picture: { ...TEXT, container: 'binary', isNative: true, hasPages: true },
} as const satisfies Readonly<Record<string, FormatFacts>>;

export type FormatKind = keyof typeof FORMAT_KINDS;
