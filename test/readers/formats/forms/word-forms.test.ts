import { describe, expect, test } from '@jest/globals';
import { officePackage, root } from '../../../support/office-packages.js';
import { readBlocks } from '../../../support/read-blocks.js';

const W14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"';
const word = (body: string) =>
  readBlocks(
    'docx',
    officePackage({
      parts: { 'word/document.xml': root('w:document', `<w:body>${body}</w:body>`, W14) },
      relations: { '': [['r1', 'officeDocument', 'word/document.xml']] },
    }),
  );
const run = (content: string): string => `<w:r><w:t xml:space="preserve">${content}</w:t></w:r>`;
const paragraph = (content: string): string => `<w:p>${content}</w:p>`;

describe('a form field of old', () => {
  const field = (data: string, instruction: string, result?: string): string =>
    `<w:r><w:fldChar w:fldCharType="begin"><w:ffData>${data}</w:ffData></w:fldChar></w:r><w:r><w:instrText> ${instruction} </w:instrText></w:r>${result === undefined ? '' : `<w:r><w:fldChar w:fldCharType="separate"/></w:r>${run(result)}`}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;
  const box = (state: string): string => field(`<w:checkBox>${state}</w:checkBox>`, 'FORMCHECKBOX');

  test.each([
    ['checked', '<w:default w:val="0"/><w:checked/>', '[x]'],
    ['not checked any more', '<w:default w:val="1"/><w:checked w:val="0"/>', '[ ]'],
    ['as it was made, checked', '<w:default w:val="1"/>', '[x]'],
    ['as it was made', '<w:sizeAuto/>', '[ ]'],
  ])('that is a box which is %s shows so', async (_name, state, mark) => {
    expect((await word(paragraph(box(state) + run(' Smoker')))).text).toBe(`${mark} Smoker\n\n`);
  });

  test('that is a box does not touch its label', async () => {
    const { text } = await word(paragraph(run('Yes') + box('<w:checked/>') + run('No') + box('')));
    expect(text).toBe('Yes [x] No [ ]\n\n');
  });

  test('that is a list shows its entry, once, and one that is a text its result', async () => {
    const entries = '<w:listEntry w:val="green"/><w:listEntry w:val="purple"/>';
    const { text } = await word(
      paragraph(
        run('Colour: ') +
          field(`<w:ddList><w:result w:val="1"/>${entries}</w:ddList>`, 'FORMDROPDOWN', 'purple'),
      ) +
        paragraph(run('Other: ') + field(`<w:ddList>${entries}</w:ddList>`, 'FORMDROPDOWN')) +
        paragraph(run('Name: ') + field('<w:textInput/>', 'FORMTEXT', 'Jane Roe')),
    );
    expect(text).toBe('Colour: purple\n\nOther: green\n\nName: Jane Roe\n\n');
  });
});

describe('a content control', () => {
  const control = (properties: string, content: string): string =>
    `<w:sdt><w:sdtPr>${properties}</w:sdtPr><w:sdtContent>${content}</w:sdtContent></w:sdt>`;
  const box = (state: '0' | '1', content: string): string =>
    control(`<w14:checkbox><w14:checked w14:val="${state}"/></w14:checkbox>`, content);
  const empty = '<w:showingPlcHdr/>';

  test('that is a box shows its state in place of its sign, in a line, around one, and around a cell', async () => {
    const cell = (content: string): string => `<w:tc>${content}</w:tc>`;
    const table = `<w:tbl><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid><w:tr>${cell(paragraph(run('Item')))}${cell(paragraph(run('Done')))}</w:tr><w:tr>${cell(paragraph(run('Roof')))}${box('1', cell(paragraph(run('☒'))))}</w:tr></w:tbl>`;
    const { text } = await word(
      paragraph(box('1', run('☒')) + run('Diabetic')) +
        box('0', paragraph(run('☐'))) +
        paragraph(run('after')) +
        table,
    );
    expect(text).toBe('[x] Diabetic\n\n[ ]\n\nafter\n\n| Item | Done |\n| --- | --- |\n| Roof | [x] |\n\n');
  });

  test('that is a list or a date shows its text', async () => {
    const { text } = await word(
      paragraph(
        run('City: ') +
          control('<w:dropDownList><w:listItem w:displayText="Bern"/></w:dropDownList>', run('Genf')),
      ) + paragraph(run('On ') + control('<w:date w:fullDate="2026-03-15T00:00:00Z"/>', run('15.3.2026'))),
    );
    expect(text).toBe('City: Genf\n\nOn 15.3.2026\n\n');
  });

  test('that asks for what nobody has filled in is named and not read', async () => {
    const { text, gaps } = await word(
      paragraph(run('Date: ') + control(empty, run('Click to enter a date.'))) +
        control(empty, paragraph(run('Click here.')) + paragraph(run('Then there.'))) +
        paragraph(run('end')),
    );
    expect(text).toBe('Date:\n\nend\n\n');
    expect(gaps).toEqual(['skipped: 2 empty fields of forms were left out.']);
  });

  test('of ActiveX is named', async () => {
    const activeX =
      '<w:r><w:object><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:imagedata/></v:shape><w:control w:name="CheckBox1"/></w:object></w:r>';
    expect((await word(paragraph(run('Consent ') + activeX))).gaps).toEqual([
      'skipped: 1 control of a form that only its program can read was left out.',
    ]);
  });
});
