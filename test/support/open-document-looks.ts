import type { FileFormat } from '../../src/readers/detection/formats.js';
import { openDocumentFile } from './open-documents.js';

export const style = (name: string, family: string, properties: string, more = ''): string =>
  `<style:style style:name="${name}" style:family="${family}" ${more}>${properties}</style:style>`;
export const look = (attributes: string): string => `<style:text-properties ${attributes}/>`;
export const cellLook = (attributes: string): string => `<style:table-cell-properties ${attributes}/>`;
const filled = (color: string): string =>
  `<style:graphic-properties draw:fill="solid" draw:fill-color="${color}"/>`;
export const WHITE = look('fo:color="#ffffff"');
export const DARK = '#203040';
export const span = '<text:p><text:span text:style-name="t">words</text:span></text:p>';

export interface Parts {
  readonly body: string;
  readonly styles?: string;
  /** The content of the file with the styles of pages. */
  readonly pages?: string;
}

export function file(format: FileFormat, { body, styles = '', pages }: Parts): Uint8Array {
  const kind = format === 'ods' ? 'spreadsheet' : format === 'odp' ? 'presentation' : 'text';
  const members =
    pages === undefined ? {} : { 'styles.xml': `<office:document-styles>${pages}</office:document-styles>` };
  return openDocumentFile(kind, body, {
    styles,
    members: { ...members, 'Pictures/photo.jpg': 'a photograph' },
  });
}

export const white = style('t', 'text', WHITE);
export const dark = (name: string, family: string): string =>
  style(name, family, `<style:table-properties fo:background-color="${DARK}"/>`);
export const pageOf = (attributes: string): string =>
  `<style:page-layout style:name="p"><style:page-layout-properties ${attributes}/></style:page-layout>`;
export const table = (attributes: string, ofCell: string): string =>
  `<table:table ${attributes}><table:table-row><table:table-cell ${ofCell}>${span}</table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>`;
export const sheet = (cells: string, before = ''): string =>
  `<table:table table:name="Data">${before}<table:table-row>${cells}</table:table-row></table:table>`;
export const cell = (text: string, attributes = ''): string =>
  `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;

export const box = (x: number, width = 10): string =>
  `svg:x="${String(x)}cm" svg:y="2cm" svg:width="${String(width)}cm" svg:height="2cm"`;
export const frame = (content: string, attributes: string): string =>
  `<draw:frame ${attributes}>${content}</draw:frame>`;
export const textBox = (attributes = box(2), shape = 'none'): string =>
  frame(`<draw:text-box>${span}</draw:text-box>`, `draw:style-name="${shape}" ${attributes}`);
export const photo = (attributes = box(0, 20)): string =>
  frame('<draw:image xlink:href="Pictures/photo.jpg"/>', `draw:style-name="none" ${attributes}`);
export const slide = (shapes: string, attributes = '', more = ''): string =>
  `<draw:page draw:name="1" draw:master-page-name="m" ${attributes}>${shapes}${more}</draw:page>`;
export const shapeStyles =
  style('none', 'graphic', '<style:graphic-properties draw:fill="none"/>') +
  style('dark', 'graphic', filled(DARK)) +
  style('white', 'graphic', filled('#ffffff')) +
  style(
    'darkPage',
    'drawing-page',
    `<style:drawing-page-properties draw:fill="solid" draw:fill-color="${DARK}"/>`,
  );
export const master = (attributes = '', shapes = ''): string =>
  `<office:automatic-styles>${shapeStyles}<style:page-layout style:name="p"><style:page-layout-properties fo:page-width="25cm" fo:page-height="15cm"/></style:page-layout></office:automatic-styles><office:master-styles><style:master-page style:name="m" style:page-layout-name="p" ${attributes}>${shapes}</style:master-page></office:master-styles>`;
export const ordinary = style('t', 'text', look('fo:color="#000000"'));
export const odp = (body: string, styles = white, pages = master()): Parts => ({
  body,
  styles: shapeStyles + styles,
  pages,
});
export const animated = '<anim:par smil:targetElement="s1"/>';
