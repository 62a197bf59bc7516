import { formatOf, type FileFormat } from './file-types/formats.js';

/** Formats whose time depends on their length alone. Up to `QUICK_BYTES` they are read within a second. */
const LINEAR: ReadonlySet<FileFormat> = new Set<FileFormat>(['text', 'markdown', 'html', 'csv', 'json']);
const QUICK_BYTES = 1024 * 1024;

/** Whether content of this format and size is read so quickly that it need not wait behind slow content. */
export function isQuick(format: FileFormat, sizeBytes: number): boolean {
  return sizeBytes <= QUICK_BYTES && LINEAR.has(format);
}

export interface SourceSize {
  readonly kind: 'text' | 'file';
  readonly contentType: string;
  readonly sizeBytes: number;
}

export function isQuickContent({ kind, contentType, sizeBytes }: SourceSize): boolean {
  const format = kind === 'text' ? 'text' : formatOf(contentType);
  return format !== undefined && isQuick(format, sizeBytes);
}
