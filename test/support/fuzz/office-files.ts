import { officePackage, root } from '../office-packages.js';
import { openDocumentFile } from '../open-documents.js';
import { grid, number, workbook } from '../workbooks.js';
import { png } from './pictures.js';

const PLAIN_FILL = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>';
const THEME = root(
  'a:theme',
  `<a:themeElements><a:clrScheme><a:dk1><a:sysClr val="windowText" lastClr="000000"/></a:dk1><a:lt1><a:srgbClr val="FFFFFF"/></a:lt1><a:accent1><a:srgbClr val="4F81BD"/></a:accent1></a:clrScheme><a:fmtScheme><a:fillStyleLst>${PLAIN_FILL}</a:fillStyleLst><a:bgFillStyleLst>${PLAIN_FILL}</a:bgFillStyleLst></a:fmtScheme></a:themeElements>`,
);

/** A Word file with a heading, a list, a table, a footnote, a comment, tracked changes, colours and an import. */
export const smallDocx = (): Uint8Array =>
  officePackage({
    parts: {
      'word/document.xml': root(
        'w:document',
        '<w:body><w:p><w:pPr><w:pStyle w:val="h"/></w:pPr><w:r><w:t>One</w:t></w:r></w:p><w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>item</w:t></w:r></w:p><w:p><w:r><w:t xml:space="preserve">text </w:t><w:tab/><w:br/><w:footnoteReference w:id="2"/><w:commentReference w:id="0"/></w:r><w:ins w:id="1"><w:r><w:t>new</w:t></w:r></w:ins><w:del w:id="2"><w:r><w:delText>old</w:delText></w:r></w:del><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:rPr><w:color w:val="FFFFFF" w:themeColor="background1" w:themeShade="BF"/><w:highlight w:val="yellow"/><w:shd w:val="clear" w:fill="112233"/></w:rPr><w:t>colored</w:t></w:r><w:fldSimple w:instr="PAGE"><w:r><w:t>3</w:t></w:r></w:fldSimple></w:p><w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>2</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p><w:r><mc:AlternateContent><mc:Choice Requires="wps"><wps:txbx><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></wps:txbx></mc:Choice><mc:Fallback><w:t>no</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p><w:altChunk r:id="r4"/></w:body>',
      ),
      'word/styles.xml': root(
        'w:styles',
        '<w:style w:type="paragraph" w:styleId="h"><w:basedOn w:val="b"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style><w:style w:styleId="b"><w:basedOn w:val="h"/></w:style>',
      ),
      'word/numbering.xml': root(
        'w:numbering',
        '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="1"><w:start w:val="3"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1.%2."/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>',
      ),
      'word/footnotes.xml': root(
        'w:footnotes',
        '<w:footnote w:id="2"><w:p><w:r><w:t>note</w:t></w:r></w:p></w:footnote>',
      ),
      'word/chunk.htm': '<html><body><h1>Imported</h1><p style="color:#fff">x</p></body></html>',
      'word/theme/theme1.xml': THEME,
      'docProps/core.xml': root('cp:coreProperties', '<dc:title>Title</dc:title>'),
    },
    relations: {
      '': [
        ['r1', 'officeDocument', 'word/document.xml'],
        ['r2', 'core-properties', 'docProps/core.xml'],
      ],
      'word/document.xml': [
        ['r1', 'styles', 'styles.xml'],
        ['r2', 'numbering', 'numbering.xml'],
        ['r3', 'footnotes', 'footnotes.xml'],
        ['r4', 'aFChunk', 'chunk.htm'],
        ['r5', 'theme', 'theme/theme1.xml'],
      ],
    },
  });

const shape = (text: string, kind: string): string =>
  `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${kind}"/></p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x="100" y="200"/><a:ext cx="300" cy="400"/></a:xfrm></p:spPr><p:txBody><a:p><a:pPr lvl="1"/><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;

/** A PowerPoint file with a title, a table, notes, a theme and a picture over colours. */
export const smallPptx = (): Uint8Array =>
  officePackage({
    parts: {
      'ppt/presentation.xml': root(
        'p:presentation',
        '<p:sldIdLst><p:sldId id="256" r:id="s1"/></p:sldIdLst><p:sldSz cx="1000" cy="1000"/>',
      ),
      'ppt/slides/slide1.xml': root(
        'p:sld',
        `<p:cSld><p:spTree>${shape('Title', 'title')}<p:grpSp><p:grpSpPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="500" cy="500"/><a:chOff x="10" y="10"/><a:chExt cx="250" cy="250"/></a:xfrm></p:grpSpPr>${shape('text', 'body')}</p:grpSp><p:sp><p:nvSpPr><p:cNvPr id="7"/></p:nvSpPr><p:spPr><a:xfrm rot="60000"><a:off x="1" y="2"/><a:ext cx="3" cy="4"/></a:xfrm><a:prstGeom prst="rect"/></p:spPr><p:style><a:fillRef idx="1"><a:schemeClr val="accent1"><a:lumMod val="75000"/><a:alpha val="50000"/></a:schemeClr></a:fillRef><a:fontRef idx="minor"><a:schemeClr val="lt1"/></a:fontRef></p:style><p:txBody><a:lstStyle><a:lvl1pPr><a:defRPr sz="100"/></a:lvl1pPr></a:lstStyle><a:p><a:r><a:rPr><a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill><a:highlight><a:srgbClr val="FF0000"/></a:highlight></a:rPr><a:t>colored</a:t></a:r></a:p></p:txBody></p:sp><p:pic><p:nvPicPr><p:cNvPr id="8"/></p:nvPicPr><p:blipFill><a:blip r:embed="i1"/></p:blipFill><p:spPr><a:xfrm><a:off x="1" y="2"/><a:ext cx="3" cy="4"/></a:xfrm></p:spPr></p:pic><p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc gridSpan="2"><a:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></a:txBody></a:tc><a:tc hMerge="1"/></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame></p:spTree></p:cSld>`,
      ),
      'ppt/slideLayouts/slideLayout1.xml': root(
        'p:sldLayout',
        `<p:cSld><p:spTree>${shape('x', 'title')}</p:spTree></p:cSld><p:clrMapOvr><a:overrideClrMapping bg1="dk1" tx1="lt1"/></p:clrMapOvr>`,
      ),
      'ppt/slideMasters/slideMaster1.xml': root(
        'p:sldMaster',
        '<p:cSld><p:bg><p:bgRef idx="1001"><a:schemeClr val="bg1"/></p:bgRef></p:bg><p:spTree/></p:cSld><p:clrMap bg1="lt1" tx1="dk1"/>',
      ),
      'ppt/theme/theme1.xml': THEME,
      'ppt/media/image1.png': png(),
      'ppt/notesSlides/notes1.xml': root(
        'p:notes',
        `<p:cSld><p:spTree>${shape('note', 'body')}</p:spTree></p:cSld>`,
      ),
    },
    relations: {
      '': [['r1', 'officeDocument', 'ppt/presentation.xml']],
      'ppt/presentation.xml': [['s1', 'slide', 'slides/slide1.xml']],
      'ppt/slides/slide1.xml': [
        ['n1', 'notesSlide', '../notesSlides/notes1.xml'],
        ['l1', 'slideLayout', '../slideLayouts/slideLayout1.xml'],
        ['i1', 'image', '../media/image1.png'],
      ],
      'ppt/slideLayouts/slideLayout1.xml': [['m1', 'slideMaster', '../slideMasters/slideMaster1.xml']],
      'ppt/slideMasters/slideMaster1.xml': [['t1', 'theme', '../theme/theme1.xml']],
    },
  });

/** An Excel file with texts, numbers, dates, merged cells and a hidden sheet. */
export const smallXlsx = (): Uint8Array =>
  workbook({
    sheets: [
      {
        name: 'Data',
        rows: `${grid([
          ['name', 'amount'],
          ['one', 1.5],
        ])}<row r="3">${number('A3', 45_000.5, 1)}${number('B3', 0.25, 2)}<c r="C3" t="s"><v>0</v></c><c r="D3" t="b"><f>A1=B1</f><v>1</v></c></row>`,
        after:
          '<mergeCells count="1"><mergeCell ref="A4:B5"/></mergeCells><conditionalFormatting sqref="A1:B2 C3"><cfRule/></conditionalFormatting>',
      },
      { name: 'Secret', rows: grid([['x']]), state: 'hidden' },
    ],
    strings: ['<t>shared</t>', '<r><rPr><color theme="0" tint="-0.5"/><sz val="1"/></rPr><t>rich</t></r>'],
    styles:
      '<numFmts count="1"><numFmt numFmtId="164" formatCode="[Red]yyyy\\-mm\\-dd hh:mm;@"/></numFmts><fonts><font/><font><color indexed="9"/></font></fonts><fills><fill/><fill><patternFill patternType="solid"><fgColor rgb="FF000000"/></patternFill></fill></fills><cellXfs><xf numFmtId="0"/><xf numFmtId="164" fontId="1" fillId="1"/><xf numFmtId="12" fontId="1"/></cellXfs><colors><indexedColors><rgbColor rgb="00FFFFFF"/></indexedColors></colors>',
  });

const TABLE =
  '<table:table table:name="T"><table:table-column table:number-columns-repeated="2"/><table:table-row><table:table-cell office:value-type="string"><text:p>name</text:p></table:table-cell><table:table-cell table:number-columns-repeated="3"><text:p>x</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="4"><table:table-cell office:value-type="float" office:value="1.5" table:number-columns-spanned="2"><text:p>1.5</text:p></table:table-cell><table:covered-table-cell/></table:table-row></table:table>';

/** An OpenDocument text with a heading, a list, a note, a table and a frame. */
export const smallOdt = (): Uint8Array =>
  openDocumentFile(
    'text',
    `<text:h text:outline-level="1">One</text:h><text:p text:style-name="P1">text<text:s text:c="3"/><text:tab/><text:note><text:note-body><text:p>note</text:p></text:note-body></text:note></text:p><text:list><text:list-item><text:p>item</text:p><text:list><text:list-item><text:p>inner</text:p></text:list-item></text:list></text:list-item></text:list>${TABLE}<draw:frame><draw:text-box><text:p>box</text:p></draw:text-box></draw:frame>`,
    {
      styles:
        '<style:style style:name="P1" style:parent-style-name="P1"><style:text-properties text:display="none" fo:font-size="1pt"/></style:style>',
      members: {
        'meta.xml':
          '<office:document-meta><office:meta><dc:title>T</dc:title></office:meta></office:document-meta>',
      },
    },
  );

export const smallOds = (): Uint8Array => openDocumentFile('spreadsheet', TABLE);

/** A presentation with shapes over each other, a master page, a picture and an animation. */
export const smallOdp = (): Uint8Array =>
  openDocumentFile(
    'presentation',
    `<draw:page draw:name="a" draw:master-page-name="m" draw:style-name="dp"><draw:rect draw:style-name="g" svg:x="1cm" svg:y="1in" svg:width="3cm" svg:height="40mm"/><draw:frame presentation:class="title" svg:x="1cm" svg:y="2cm"><draw:text-box><text:p>Title</text:p></draw:text-box></draw:frame><draw:frame>${TABLE}</draw:frame><draw:frame svg:x="9cm" svg:y="9cm" svg:width="1cm" svg:height="1cm"><draw:image xlink:href="Pictures/a.png"/></draw:frame><presentation:notes><draw:frame><draw:text-box><text:p>note</text:p></draw:text-box></draw:frame></presentation:notes><anim:par smil:targetElement="x"/></draw:page>`,
    {
      styles:
        '<style:style style:name="g" style:family="graphic"><style:graphic-properties draw:fill="solid" draw:fill-color="#000000"/></style:style><style:style style:name="dp" style:family="drawing-page"><style:drawing-page-properties draw:fill="none"/></style:style>',
      members: {
        'styles.xml':
          '<office:document-styles><style:page-layout style:name="p"><style:page-layout-properties fo:page-width="25cm" fo:page-height="15cm"/></style:page-layout><style:master-page style:name="m" style:page-layout-name="p"><draw:rect draw:style-name="g" svg:x="0cm" svg:y="0cm" svg:width="1cm" svg:height="1cm"/></style:master-page></office:document-styles>',
      },
    },
  );
