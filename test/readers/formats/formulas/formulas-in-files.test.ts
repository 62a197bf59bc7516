import { describe, expect, it } from '@jest/globals';
import { officePackage, root } from '../../../support/office-packages.js';
import { openDocumentFile } from '../../../support/open-documents.js';
import { readBlocks } from '../../../support/read-blocks.js';

const FORMULA =
  '<m:math xmlns:m="http://www.w3.org/1998/Math/MathML"><m:mfrac><m:mrow><m:mi>a</m:mi><m:mo>+</m:mo><m:mi>b</m:mi></m:mrow><m:mi>c</m:mi></m:mfrac></m:math>';

describe('a formula', () => {
  it('of a page is read in its sentence', async () => {
    expect((await readBlocks('html', `<p>so ${FORMULA} holds`)).text).toBe('so (a+b)/c holds\n\n');
  });

  it('of a page that is not closed ends with its paragraph', async () => {
    const { text } = await readBlocks('html', '<p>so <math><mi>x</mi><p>and more</p><ul><li>one</ul>');
    expect(text).toBe('so x\n\nand more\n\n- one\n\n');
  });

  it('of a page that nobody sees is left out', async () => {
    const { text } = await readBlocks('html', `<p>so <span style="display:none">${FORMULA}</span> holds`);
    expect(text).toBe('so holds\n\n');
  });

  const POWER = '<msup><mi>c</mi><mn>2</mn></msup>';
  const DRAWN = '<span>c<span>2</span></span>';
  const PICTURE = '<img aria-hidden="true" alt="{\\displaystyle c^{2}}" src="p.svg">';

  it.each([
    [
      'KaTeX, behind its MathML',
      `<span class="katex"><span><math>${POWER}</math></span><span aria-hidden="true">${DRAWN}</span></span>`,
    ],
    [
      'MathJax, before its MathML',
      `<span data-mathml="<math/>"><nobr aria-hidden="true">${DRAWN}</nobr><span><math>${POWER}</math></span></span>`,
    ],
    [
      'Wikipedia, as a picture of MathML that is not shown',
      `<span style="display:none"><math alttext="{\\displaystyle c^{2}}">${POWER}</math></span>${PICTURE}`,
    ],
    [
      'Wikipedia, as a picture beside MathML that is shown',
      `<math alttext="{\\displaystyle c^{2}}">${POWER}</math>${PICTURE}`,
    ],
  ])('of a page is read once where it is drawn by %s', async (_name, drawn) => {
    const { text, receipt } = await readBlocks(
      'html',
      `<p>energy ${drawn} holds <i aria-hidden="true">★</i>`,
    );
    expect(text).toBe('energy c² holds ★\n\n');
    expect(receipt.gap_count).toBe(0);
  });

  it('of a page that is not shown is left out before a picture of something else', async () => {
    const { text, receipt } = await readBlocks(
      'html',
      `<p>so <span style="display:none"><math alttext="c^2">${POWER}</math></span><img alt="a cat"> holds`,
    );
    expect(text).toBe('so a cat holds\n\n');
    expect(receipt.gaps).toMatchObject([{ reason: 'hidden' }]);
  });

  it('of a page that is not shown is named, also where another one stands directly behind it', async () => {
    const unshown = '<span style="display:none"><math alttext="c^2"><mi>c</mi></math></span>';
    const { gaps } = await readBlocks('html', `<p>so ${unshown}${unshown} holds`);
    expect(gaps).toEqual(['hidden: 2 characters of hidden text were left out.']);
  });

  it('of a page that only screen readers meet is read and named', async () => {
    const box = 'position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)';
    const { text, gaps } = await readBlocks(
      'html',
      `<p>so <span style="${box}"><math alttext="c^2">${POWER}</math></span> holds`,
    );
    expect(text).toBe('so c² holds\n\n');
    expect(gaps).toEqual(['hidden: 2 characters only for screen readers were read.']);
  });

  it('of JATS is read once, beside its number', async () => {
    const article = (inside: string) =>
      `<article dtd-version="1"><body><p>so ${inside} holds</p></body></article>`;
    const both = `<inline-formula><alternatives><tex-math>\\frac</tex-math>${FORMULA}</alternatives></inline-formula>`;
    expect((await readBlocks('xml', article(both))).text).toMatch(/\nso \(a\+b\)\/c holds\n/);
    const display = `<disp-formula><label>(1)</label>${FORMULA}</disp-formula>`;
    expect((await readBlocks('xml', article(display))).text).toMatch(/\nso \(1\) \(a\+b\)\/c holds\n/);
  });

  it('of Word is read in its sentence, without what is hidden in it', async () => {
    const run = (text: string, properties = ''): string =>
      `<m:r><w:rPr>${properties}</w:rPr><m:t>${text}</m:t></m:r>`;
    const body = `<w:p><w:r><w:t xml:space="preserve">so </w:t></w:r><m:oMath><m:f><m:num>${run('a+b')}</m:num><m:den>${run('c')}</m:den></m:f>${run('+1', '<w:vanish/>')}</m:oMath><w:r><w:t xml:space="preserve"> holds</w:t></w:r></w:p>`;
    const { text, gaps } = await readBlocks(
      'docx',
      officePackage({
        parts: { 'word/document.xml': root('w:document', `<w:body>${body}</w:body>`) },
        relations: { '': [['rId1', 'officeDocument', 'word/document.xml']] },
      }),
    );
    expect(text).toBe('so (a+b)/c holds\n\n');
    expect(gaps).toHaveLength(1);
  });

  it('that is an object of its own in an OpenDocument text is read where it stands', async () => {
    const object = (name: string): string =>
      `<draw:frame><draw:object xlink:href="./${name}"/><draw:image/></draw:frame>`;
    const { text, gaps } = await readBlocks(
      'odt',
      openDocumentFile(
        'text',
        `<text:p>so ${object('F 1')} holds</text:p><text:p>${object('Chart')}</text:p>`,
        {
          members: { 'F 1/content.xml': FORMULA, 'Chart/content.xml': '<office:document-content/>' },
        },
      ),
    );
    expect(text).toBe('so (a+b)/c holds\n\n');
    expect(gaps.filter((gap) => gap.includes('object'))).toEqual([
      'skipped: An embedded object is not read.',
    ]);
  });

  it('of RTF is read as that of Word', async () => {
    const formula =
      '{\\*\\moMathPara{\\*\\moMathParaPr{\\mjc1}}{\\*\\moMath{\\mf{\\mnum{\\mr a+b}}{\\mden{\\mr\\mscr0 c}}}{\\mr =}' +
      '{\\msSup{\\me{\\mr x}}{\\msup{\\mf{\\mnum{\\mr 1}}{\\mden{\\mr 2}}}}}{\\mr +}' +
      '{\\mnary{\\mnaryPr{\\mchr \\u8721?}}{\\msub{\\mr i=1}}{\\msup{\\mr n}}{\\me{\\mrad{\\mradPr{\\mdegHide 1}}{\\mdeg}{\\me{\\mr y}}}}}' +
      '{\\md{\\mdPr{\\mbegChr [}{\\mendChr ]}}{\\me{\\mr z}}}}}';
    const { text, gaps } = await readBlocks('rtf', Buffer.from(`{\\rtf1 so ${formula} holds\\par}`));
    expect(text.trim()).toBe('so (a+b)/c=x^(1/2)+∑_(i=1)^n √y[z] holds');
    expect(gaps).toEqual([]);
  });
});
