import { strToU8, zipSync } from 'fflate';

/** A small EPUB book of two chapters and a table of contents. */
export function smallBook(): Uint8Array {
  const chapter = (body: string): string =>
    `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>A book</title><style>.x{display:none}</style><link rel="stylesheet" href="a.css"/></head><body>${body}</body></html>`;
  const members = {
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<container><rootfiles><rootfile full-path="OPS/package.opf"/></rootfiles></container>',
    'OPS/package.opf':
      '<package xmlns:dc="d"><metadata><dc:title>A book</dc:title><dc:language>en</dc:language></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="b" href="b%20c.xhtml" media-type="application/xhtml+xml"/><item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/><item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest><spine toc="ncx"><itemref idref="a"/><itemref idref="b" linear="no"/></spine></package>',
    'OPS/a.css': '@import "b.css"; @media screen {.y{color:#fff}} p.x, #z > b {background:rgb(0, 0, 0)}',
    'OPS/nav.xhtml':
      '<html><body><nav epub:type="toc"><ol><li><a href="a.xhtml#x">One</a></li></ol></nav></body></html>',
    'OPS/toc.ncx':
      '<ncx><navMap><navPoint><navLabel><text>Two</text></navLabel><content src="b%20c.xhtml"/></navPoint></navMap></ncx>',
    'OPS/a.xhtml': chapter('<h1>One</h1><p>first<br/>line</p><ul><li>item<ul><li>inner</li></ul></li></ul>'),
    'OPS/b c.xhtml': chapter(
      '<table><tr><th>a</th><th colspan="2">b</th></tr><tr><td rowspan="2">1</td><td>2</td><td>3</td></tr></table><p class="x">hidden</p>',
    ),
  };
  return zipSync(Object.fromEntries(Object.entries(members).map(([name, text]) => [name, strToU8(text)])));
}
