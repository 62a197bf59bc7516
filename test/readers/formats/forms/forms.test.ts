import { describe, expect, test } from '@jest/globals';
import { openDocumentFile } from '../../../support/open-documents.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { text as cell, workbook } from '../../../support/workbooks.js';
import { root } from '../../../support/office-packages.js';

describe('form fields of RTF', () => {
  const field = (data: string, name: string, result = ''): string =>
    `{\\field{\\*\\fldinst { ${name} }{\\*\\formfield{${data}}}}{\\fldrslt ${result}}}`;
  const rtf = async (body: string) => (await readBlocks('rtf', `{\\rtf1\\ansi ${body}}`)).text;

  test('are boxes by their state, lists by their entry, and texts by their result', async () => {
    const box = (state: string): string => field(`\\fftype1${state}{\\*\\ffname Check1}`, 'FORMCHECKBOX');
    const entries = '{\\*\\ffl green}{\\*\\ffl purple}';
    expect(
      await rtf(
        `${box('\\ffres1\\ffdefres0')} Smoker\\par ${box('\\ffres25\\ffdefres1')}Diabetic\\par ${box('\\ffres0\\ffdefres1')} Vegan\\par Colour: ${field(`\\fftype2\\ffres1${entries}`, 'FORMDROPDOWN', 'purple')}.\\par Name: ${field('\\fftype0{\\*\\ffdeftext Anon}', 'FORMTEXT', 'Jane Roe')}\\par`,
      ),
    ).toBe('[x] Smoker\n\n[x] Diabetic\n\n[ ] Vegan\n\nColour: purple.\n\nName: Jane Roe\n\n');
  });
});

describe('controls of HTML', () => {
  const html = async (markup: string) => (await readBlocks('html', markup)).text.trim();

  test('that are boxes and buttons stand beside their labels with their state', async () => {
    expect(
      await html(
        '<label><input type=checkbox checked>Smoker</label> <label>Vegan <input type=CheckBox></label>',
      ),
    ).toBe('[x] Smoker Vegan [ ]');
    expect(
      await html('Size: <input type=radio name=s> small <input type=radio name=s checked=""> large'),
    ).toBe('Size: [ ] small [x] large');
    expect(
      await html(
        '<ul><li><input type=checkbox checked disabled> Done</li><li><input type=checkbox disabled> Open</li></ul>',
      ),
    ).toBe('- [x] Done\n- [ ] Open');
    expect(await html('<div role="checkbox" aria-checked="true">Agreed</div>')).toBe('[x] Agreed');
  });

  test('that are lists show what is chosen in its line, or all options where nothing is', async () => {
    const options = (chosen: string): string => `<option>green<option ${chosen}>purple</option>`;
    expect(await html(`<p>Colour: <select>${options('selected')}</select>.</p>`)).toBe('Colour: purple.');
    expect(
      await html(
        `<p>Days: <select multiple><option selected>Mon<option>Tue<option selected>Wed</select></p>`,
      ),
    ).toBe('Days: Mon, Wed');
    expect(await html(`<p>Colour: <select>${options('')}</select></p>`)).toBe('Colour:\ngreen\npurple');
    expect(await html(`<p>Colour: <select>${options('')}<p>The rest of the page</p>`)).toContain(
      'The rest of the page',
    );
  });

  test('that are texts show what is typed, but no password, nor what is hidden or on buttons', async () => {
    expect(
      await html(
        '<p>Name: <input value="Jane Roe"><input type=hidden value=token><input type=password value=hunter2><input type=submit value=Send></p><textarea>two\nlines</textarea>',
      ),
    ).toBe('Name: Jane Roe\n\ntwo\nlines');
    expect(
      (await readBlocks('html', '<p>Menu <input type=checkbox checked style="display:none"></p>')).gaps,
    ).toEqual([]);
  });
});

describe('controls of OpenDocument', () => {
  const SPACES =
    'xmlns:form="urn:oasis:names:tc:opendocument:xmlns:form:1.0" xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0" xmlns:field="urn:openoffice:names:experimental:ooo-ms-interop:xmlns:field:1.0"';

  test('stand in the text with their state, value and label', async () => {
    const controls = [
      '<form:checkbox form:id="a" form:current-state="checked" form:state="unchecked" form:label="Smoker"/>',
      '<form:radio form:id="b" form:current-selected="true" form:label="large"/>',
      '<form:listbox form:id="c"><form:option form:label="green"/><form:option form:label="purple" form:current-selected="true"/></form:listbox>',
      '<form:text form:id="d" form:value="Jon" form:current-value="Jane Roe"/>',
      '<form:password form:id="e" form:current-value="hunter2"/>',
    ].join('');
    const at = (id: string): string => `<draw:control draw:control="${id}"/>`;
    const body = `<office:forms ${SPACES}><form:form>${controls}</form:form></office:forms><text:p>${at('a')}</text:p><text:p>Size:${at('b')}</text:p><text:p>Colour: ${at('c')}, name: ${at('d')}${at('e')}</text:p>`;
    expect((await readBlocks('odt', openDocumentFile('text', body))).text).toBe(
      '[x] Smoker\n\nSize: [x] large\n\nColour: purple, name: Jane Roe\n\n',
    );
  });

  test('that come from Word files are read as there', async () => {
    const body = `<text:p ${SPACES}><field:fieldmark field:type="vnd.oasis.opendocument.field.FORMCHECKBOX"><field:param field:name="Checkbox_Checked" field:value="true"/></field:fieldmark>Smoker <loext:content-control loext:checkbox="true" loext:checked="false">☐</loext:content-control> Vegan <loext:content-control loext:showing-place-holder="true">Choose</loext:content-control></text:p>`;
    const { text, gaps } = await readBlocks('odt', openDocumentFile('text', body));
    expect(text).toBe('[x] Smoker [ ] Vegan\n\n');
    expect(gaps).toEqual(['skipped: An empty field of a form was left out.']);
  });
});

describe('controls of sheets', () => {
  test('that are boxes show their state beside their label, and others are named', async () => {
    // Excel hides the shapes of controls, which a drawing of the older kind shows.
    const shape = (id: string, label: string, properties = 'hidden="1"'): string =>
      `<xdr:twoCellAnchor><xdr:sp><xdr:nvSpPr><xdr:cNvPr id="${id}" name="x" ${properties}/></xdr:nvSpPr><xdr:txBody><a:p><a:r><a:t>${label}</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:twoCellAnchor>`;
    const bytes = workbook({
      sheets: [
        {
          name: 'S',
          rows: `<row r="1">${cell('A1', 'Form')}</row>`,
          after:
            '<controls><control shapeId="1025" r:id="c1"/><control shapeId="1026" r:id="c2"/><control shapeId="1027" r:id="c3"/></controls>',
          relations: [
            ['d1', 'drawing', '/xl/drawings/drawing1.xml'],
            ['c1', 'ctrlProp', '/xl/ctrlProps/1.xml'],
            ['c2', 'ctrlProp', '/xl/ctrlProps/2.xml'],
            ['c3', 'ctrlProp', '/xl/ctrlProps/3.xml'],
          ],
        },
      ],
      parts: {
        'xl/drawings/drawing1.xml': root(
          'xdr:wsDr',
          shape('1025', 'Smoker') + shape('1026', 'Vegan') + shape('7', 'Note', ''),
        ),
        'xl/ctrlProps/1.xml': root('formControlPr', '', 'objectType="CheckBox" checked="Checked"'),
        'xl/ctrlProps/2.xml': root('formControlPr', '', 'objectType="CheckBox"'),
        'xl/ctrlProps/3.xml': root('formControlPr', '', 'objectType="Drop" sel="2"'),
      },
    });
    const { text, gaps } = await readBlocks('xlsx', bytes);
    for (const line of ['[x] Smoker', '[ ] Vegan', 'Note']) expect(text.split('\n')).toContain(line);
    expect(gaps).toEqual(['skipped: 1 control of a form that only its program can read was left out.']);
  });
});
