import { describe, expect, it } from '@jest/globals';
import type { XmlElement } from '../../../../src/readers/formats/ooxml/xml/stream-xml.js';
import { writeOmml } from '../../../../src/readers/formats/formulas/omml.js';

type Child = XmlElement | string;

const element = (name: string, ...children: Child[]): XmlElement => ({
  name: `m:${name}`,
  attributes: {},
  children: children.map((child) => (typeof child === 'string' ? run(child) : child)),
});
const run = (text: string): XmlElement => ({
  name: 'm:r',
  attributes: {},
  children: [{ name: 'm:t', attributes: {}, children: [text] }],
});
const property = (holder: string, name: string, value: string): XmlElement => ({
  name: `m:${holder}`,
  attributes: {},
  children: [{ name: `m:${name}`, attributes: { 'm:val': value }, children: [] }],
});
const e = (...children: Child[]) => element('e', ...children);
const sub = (...children: Child[]) => element('sub', ...children);
const sup = (...children: Child[]) => element('sup', ...children);
const fraction = (above: string, below: string, type = 'bar') =>
  element('f', property('fPr', 'type', type), element('num', above), element('den', below));

const FORMULAS: readonly (readonly [Child[], string])[] = [
  [[fraction('a+b', 'c')], '(a+b)/c'],
  [[fraction('a', 'b', 'lin')], 'a/b'],
  [[fraction('a', 'b', 'skw')], 'a/b'],
  [[element('d', e(fraction('n', 'k', 'noBar')))], '(n¦k)'],
  [[element('rad', property('radPr', 'degHide', '1'), element('deg'), e('x+1'))], '√(x+1)'],
  [[element('rad', element('deg', '3'), e('x'))], '∛x'],
  [[element('rad', element('deg', 'n'), e('x'))], '√(n&x)'],
  [['E=m', element('sSup', e('c'), sup('2'))], 'E=mc²'],
  [[element('sSup', e('10'), sup('-', '6')), ' J'], '10⁻⁶ J'],
  [[element('sSub', e('x'), sub('i')), 'y'], 'x_i y'],
  [[element('sSubSup', e('x'), sub('i'), sup('2'))], 'x_i²'],
  [[element('sPre', sub('6'), sup('14'), e('C'))], '₆¹⁴C'],
  [
    [
      element(
        'nary',
        property('naryPr', 'chr', '∑'),
        sub('i=1'),
        sup('n'),
        e(element('sSub', e('x'), sub('i'))),
      ),
    ],
    '∑_(i=1)^n x_i',
  ],
  [[element('nary', sub('0'), sup('1'), e('x dx'))], '∫₀¹ x dx'],
  [['f', element('d', e('x'))], 'f(x)'],
  [[element('d', property('dPr', 'sepChr', ';'), e('a'), e('b'))], '(a;b)'],
  [
    [
      element(
        'd',
        {
          name: 'm:dPr',
          attributes: {},
          children: [
            { name: 'm:begChr', attributes: { 'm:val': '{' }, children: [] },
            { name: 'm:endChr', attributes: { 'm:val': '' }, children: [] },
          ],
        },
        e(element('eqArr', e('x,&x>0'), e('-x,&x<0'))),
      ),
    ],
    '{█(x,x>0@-x,x<0)',
  ],
  [[element('func', element('fName', 'sin'), e('x'))], 'sin x'],
  [[element('func', element('fName', 'cos'), e(element('d', e('x'))))], 'cos(x)'],
  [
    [element('func', element('fName', element('limLow', e('lim'), element('lim', 'x→0'))), e('f(x)'))],
    'lim_(x→0) f(x)',
  ],
  [[element('acc', property('accPr', 'chr', '\u0302'), e('x'))], 'x\u0302'],
  [[element('bar', property('barPr', 'pos', 'top'), e('x+y'))], '¯(x+y)'],
  [[element('bar', e('x'))], 'x\u0332'],
  [[element('groupChr', e('a+b'))], '⏟(a+b)'],
  [[element('limLow', e(element('groupChr', e('a+b'))), element('lim', 'k'))], '⏟(a+b)_k'],
  [
    [element('d', e(element('m', element('mr', e('1'), e('0')), element('mr', e('0'), e('1')))))],
    '(■(1&0@0&1))',
  ],
  [[element('box', e('a')), element('borderBox', e('b'))], 'ab'],
  [['a', element('phant', property('phantPr', 'show', '0'), e('b')), 'c'], 'ac'],
  [['a', element('phant', e('b')), 'c'], 'abc'],
];

describe('a formula of Office', () => {
  it.each(FORMULAS)('%# is written in a line', (children, expected) => {
    expect(writeOmml(element('oMath', ...children))).toBe(expected);
  });

  it('leaves out the runs that are not admitted', () => {
    expect(writeOmml(element('oMath', 'a', 'b'), ({ text }) => text !== 'b')).toBe('a');
  });

  it('is read however deep it nests', () => {
    let inner: XmlElement = run('x');
    for (let depth = 0; depth < 5_000; depth += 1) inner = element('rad', e(inner));
    expect(writeOmml(element('oMath', inner))).toContain('x');
  });
});
