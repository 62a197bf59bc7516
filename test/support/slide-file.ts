import { encodePng } from '../../src/readers/formats/pictures/png.js';
import { officePackage, root } from './office-packages.js';

/** In points; the slide is 1000 wide and 500 high. */
export type Rectangle = readonly [x: number, y: number, width: number, height: number];
/** All of the slide below its title. */
export const WHOLE: Rectangle = [0, 60, 1000, 440];
export const rgb = (digits: string): string => `<a:solidFill><a:srgbClr val="${digits}"/></a:solidFill>`;
export const scheme = (name: string, changes = ''): string =>
  `<a:solidFill><a:schemeClr val="${name}">${changes}</a:schemeClr></a:solidFill>`;
const place = (rectangle: Rectangle, more = ''): string => `<a:xfrm ${more}>${sides(rectangle)}</a:xfrm>`;
/** A place and a size in units of the file, of which a point has 12,700. */
export const sides = (rectangle: Rectangle, [offset, extent] = ['a:off', 'a:ext']): string => {
  const [x = 0, y = 0, width = 0, height = 0] = rectangle.map((points) => points * 12_700);
  return `<${offset} x="${String(x)}" y="${String(y)}"/><${extent} cx="${String(width)}" cy="${String(height)}"/>`;
};

interface TextOptions {
  readonly color?: string;
  readonly run?: string;
  readonly fill?: string;
  readonly at?: Rectangle;
  readonly turned?: string;
  readonly style?: string;
  readonly id?: number;
  readonly type?: string;
}

export function shape(text: string, options: TextOptions = {}): string {
  const { color = '', run = '', fill = '', at = [100, 100, 200, 50], turned = '', style = '' } = options;
  const { id = 7, type } = options;
  const placeholder = type === undefined ? '' : `<p:ph type="${type}"/>`;
  const body = text === '' ? '' : `<a:p><a:r><a:rPr ${run}>${color}</a:rPr><a:t>${text}</a:t></a:r></a:p>`;
  return `<p:sp><p:nvSpPr><p:cNvPr id="${String(id)}" name="x"/><p:nvPr>${placeholder}</p:nvPr></p:nvSpPr><p:spPr>${place(at, turned)}${fill}</p:spPr>${style}<p:txBody><a:bodyPr/>${body}</p:txBody></p:sp>`;
}
export const picture = (name: string, at: Rectangle, id = 9): string =>
  `<p:pic><p:nvPicPr><p:cNvPr id="${String(id)}" name="x"/><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:embed="${name}"/></p:blipFill><p:spPr>${place(at)}</p:spPr></p:pic>`;

const png = (alpha: number): Buffer =>
  encodePng({
    width: 2,
    height: 2,
    channels: 4,
    pixels: Uint8Array.from({ length: 16 }, (_, i) => (i % 4 === 3 ? alpha : 9)),
  });

export interface SlideParts {
  readonly shapes: string;
  readonly background?: string;
  readonly layout?: string;
  readonly master?: string;
  readonly timing?: string;
  readonly map?: string;
}

/** A presentation of one slide, whose theme has black text on white, a thin line, and one of 50 points. */
export function slideFile({
  shapes,
  background = '',
  layout = '',
  master = '',
  timing = '',
  map,
}: SlideParts): Uint8Array {
  const tree = (content: string, behind = ''): string =>
    `<p:cSld>${behind}<p:spTree>${content}</p:spTree></p:cSld>`;
  const masterBackground = '<p:bg><p:bgRef idx="1001"><a:schemeClr val="bg1"/></p:bgRef></p:bg>';
  const mapping = map ?? '<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1"/>';
  const colors = ['dk1', '000000', 'lt1', 'FFFFFF', 'dk2', '1F497D', 'lt2', 'EEECE1', 'accent1', '4F81BD'];
  const listed = [0, 2, 4, 6, 8]
    .map((at) => `<a:${colors[at] ?? ''}><a:srgbClr val="${colors[at + 1] ?? ''}"/></a:${colors[at] ?? ''}>`)
    .join('');
  const plain = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>';
  const slide = 'ppt/slides/slide1.xml';
  return officePackage({
    parts: {
      'ppt/presentation.xml': root(
        'p:presentation',
        '<p:sldIdLst><p:sldId id="256" r:id="s1"/></p:sldIdLst><p:sldSz cx="12700000" cy="6350000"/>',
      ),
      [slide]: root(
        'p:sld',
        tree(shape('Title', { type: 'title', at: [0, 0, 900, 50] }) + shapes, background) + timing,
      ),
      'ppt/slideLayouts/slideLayout1.xml': root('p:sldLayout', tree(layout)),
      'ppt/slideMasters/slideMaster1.xml': root('p:sldMaster', tree(master, masterBackground) + mapping),
      'ppt/theme/theme1.xml': root(
        'a:theme',
        `<a:themeElements><a:clrScheme>${listed}</a:clrScheme><a:fmtScheme><a:fillStyleLst>${plain}</a:fillStyleLst><a:lnStyleLst><a:ln w="12700"/><a:ln w="635000"/></a:lnStyleLst><a:bgFillStyleLst>${plain}</a:bgFillStyleLst></a:fmtScheme></a:themeElements>`,
      ),
      'ppt/media/photo.jpeg': 'a photograph',
      'ppt/media/solid.png': png(255),
      'ppt/media/clear.png': png(120),
    },
    relations: {
      'ppt/presentation.xml': [['s1', 'slide', 'slides/slide1.xml']],
      [slide]: [
        ['l', 'slideLayout', '../slideLayouts/slideLayout1.xml'],
        ['photo', 'image', '../media/photo.jpeg'],
        ['solid', 'image', '../media/solid.png'],
        ['clear', 'image', '../media/clear.png'],
      ],
      'ppt/slideLayouts/slideLayout1.xml': [['m', 'slideMaster', '../slideMasters/slideMaster1.xml']],
      'ppt/slideMasters/slideMaster1.xml': [['t', 'theme', '../theme/theme1.xml']],
    },
  });
}
