import { strToU8, zipSync } from 'fflate';

const NAMESPACES = ['office', 'text', 'table', 'style', 'draw', 'fo', 'presentation', 'svg', 'dc', 'meta']
  .map((prefix) => `xmlns:${prefix}="urn:oasis:names:tc:opendocument:xmlns:${prefix}:1.0"`)
  .join(' ');

interface DocumentParts {
  /** Styles of the content. */
  readonly styles?: string;
  /** Other members of the package, by name. */
  readonly members?: Readonly<Record<string, string>>;
}

/** An OpenDocument file with this body. */
export function openDocumentFile(
  kind: 'text' | 'spreadsheet' | 'presentation',
  body: string,
  { styles = '', members = {} }: DocumentParts = {},
): Uint8Array {
  const content = `<?xml version="1.0" encoding="UTF-8"?><office:document-content ${NAMESPACES}><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`;
  return zipSync({
    mimetype: [strToU8(`application/vnd.oasis.opendocument.${kind}`), { level: 0 }],
    'content.xml': strToU8(content),
    ...Object.fromEntries(Object.entries(members).map(([name, text]) => [name, strToU8(text)])),
  });
}
