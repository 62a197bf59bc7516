import { describe, expect, it } from '@jest/globals';
import { createMathCollector } from '../../../../src/readers/formats/formulas/mathml.js';
import { readMarkup } from '../../../../src/readers/formats/xml/read-markup.js';

const FORMULAS: readonly (readonly [string, string])[] = [
  // Fractions
  ['<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>', '(a+b)/c'],
  ['<mfrac><mi>a</mi><mi>b</mi></mfrac>', 'a/b'],
  ['<mfrac><mn>1</mn><mrow><mn>2</mn><mi>x</mi></mrow></mfrac>', '1/(2x)'],
  ['<mfrac><mrow><mi>d</mi><mi>y</mi></mrow><mrow><mi>d</mi><mi>x</mi></mrow></mfrac>', 'dy/dx'],
  ['<mfrac><msup><mi>x</mi><mn>2</mn></msup><msub><mi>y</mi><mi>i</mi></msub></mfrac>', 'x²/y_i'],
  ['<mfrac><mi>a</mi><mfrac><mi>b</mi><mi>c</mi></mfrac></mfrac>', 'a/(b/c)'],
  ['<mo>(</mo><mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac><mo>)</mo>', '(n¦k)'],
  ['<mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mo>/</mo><mi>c</mi>', '(a+b)/c'],
  ['<mn>1</mn><mo>/</mo><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mo>=</mo><mi>x</mi>', '1/(a+b)=x'],
  ['<mi>a</mi><mo>/</mo><mi>b</mi><mo>+</mo><mi>c</mi>', 'a/b+c'],
  // Roots
  ['<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>', '√(x+1)'],
  ['<msqrt><mn>2</mn></msqrt>', '√2'],
  ['<mroot><mi>x</mi><mn>3</mn></mroot>', '∛x'],
  ['<mroot><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>n</mi></mroot>', '√(n&a+b)'],
  // Scripts
  ['<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>', 'E=mc²'],
  ['<msup><mi>e</mi><mrow><mi>i</mi><mi>π</mi></mrow></msup><mo>+</mo><mn>1</mn>', 'e^iπ+1'],
  ['<msup><mi>x</mi><mi>n</mi></msup><mi>y</mi>', 'x^n y'],
  ['<msup><mn>10</mn><mrow><mo>−</mo><mn>6</mn></mrow></msup>', '10⁻⁶'],
  ['<msup><mn>2</mn><msup><mn>2</mn><mn>3</mn></msup></msup>', '2^(2³)'],
  ['<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>', 'x_i²'],
  ['<msub><mi>a</mi><mrow><mi>n</mi><mo>+</mo><mn>1</mn></mrow></msub>', 'a_(n+1)'],
  ['<msup><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></msup>', '(a+b)²'],
  ['<msup><mrow><mo>(</mo><mi>a</mi><mo>+</mo><mi>b</mi><mo>)</mo></mrow><mn>2</mn></msup>', '(a+b)²'],
  ['<msup><mi>f</mi><mo>′</mo></msup><mo>(</mo><mi>x</mi><mo>)</mo>', 'f′(x)'],
  ['<msup><mn>90</mn><mo>∘</mo></msup>', '90°'],
  ['<mmultiscripts><mi>C</mi><none/><mo>+</mo><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>', '₆¹⁴C⁺'],
  // Sums, limits and functions
  [
    '<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><msub><mi>x</mi><mi>i</mi></msub>',
    '∑_(i=1)^n x_i',
  ],
  ['<msubsup><mo>∫</mo><mn>0</mn><mn>1</mn></msubsup><mi>x</mi><mi>d</mi><mi>x</mi>', '∫₀¹ xdx'],
  [
    '<munder><mi>lim</mi><mrow><mi>x</mi><mo>→</mo><mn>0</mn></mrow></munder><mi>f</mi><mo>&#x2061;</mo><mo>(</mo><mi>x</mi><mo>)</mo>',
    'lim_(x→0) f(x)',
  ],
  ['<mi>sin</mi><mo>&#x2061;</mo><mi>x</mi>', 'sin x'],
  ['<mi>sin</mi><mi>x</mi>', 'sin x'],
  ['<msup><mi>sin</mi><mn>2</mn></msup><mi>x</mi>', 'sin² x'],
  ['<mn>2</mn><mi>log</mi><mo>(</mo><mi>x</mi><mo>)</mo>', '2 log(x)'],
  // Invisible operators
  ['<mn>2</mn><mo>&#x2062;</mo><mi>x</mi>', '2x'],
  ['<msub><mi>a</mi><mrow><mn>1</mn><mo>&#x2063;</mo><mn>2</mn></mrow></msub>', 'a₁,₂'],
  ['<mn>3</mn><mo>&#x2064;</mo><mfrac><mn>1</mn><mn>2</mn></mfrac>', '3 1/2'],
  // Brackets, matrices and accents
  ['<mi>f</mi><mfenced><mi>x</mi><mi>y</mi></mfenced>', 'f(x,y)'],
  ['<mfenced open="[" close=")" separators=";"><mn>0</mn><mn>1</mn></mfenced>', '[0;1)'],
  [
    '<mo>[</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr></mtable><mo>]</mo>',
    '[■(1&0@0&1)]',
  ],
  ['<mover accent="true"><mi>x</mi><mo>^</mo></mover>', 'x\u0302'],
  ['<mover><mi>x</mi><mo>¯</mo></mover>', 'x\u0305'],
  ['<mover><mrow><mi>x</mi><mo>+</mo><mi>y</mi></mrow><mo>¯</mo></mover>', '¯(x+y)'],
  [
    '<munder><munder><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mo>⏟</mo></munder><mi>k</mi></munder>',
    '⏟(a+b)_k',
  ],
  // Texts and layers
  ['<mi>x</mi><mtext>&#xa0;if&#xa0;</mtext><mi>y</mi><mo>&gt;</mo><mn>0</mn>', 'x if y>0'],
  ['<mi>𝑥</mi><mo>+</mo><mi>𝛼</mi>', 'x+α'],
  ['<mi>a</mi><mphantom><mi>b</mi></mphantom><mspace width="1em"/><mi>c</mi>', 'a c'],
  [
    '<semantics><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><annotation encoding="application/x-tex">a+1 \\tex</annotation></semantics>',
    'a+1',
  ],
];

function read(inside: string, attributes = ''): string {
  const collector = createMathCollector();
  const found: string[] = [];
  const handler = {
    open: (name: string, given: Readonly<Record<string, string>>) => void collector.open(name, given),
    close: (name: string) => {
      const text = collector.close(name);
      if (text !== undefined) found.push(text);
    },
    text: (text: string) => {
      collector.text(text);
    },
  };
  const bytes = new TextEncoder().encode(`<math ${attributes}>${inside}</math>`);
  Array.from(readMarkup([bytes], handler, () => []));
  return found.join('|');
}

describe('a formula in MathML', () => {
  it.each(FORMULAS)('%s is written %j', (markup, expected) => {
    expect(read(markup)).toBe(expected);
  });

  it('is found by names with a prefix', () => {
    expect(read('<m:mi>a</m:mi><m:mo>+</m:mo><m:msup><m:mi>b</m:mi><m:mn>2</m:mn></m:msup>')).toBe('a+b²');
  });

  it('without content is its other text', () => {
    expect(read('', 'alttext="x squared"')).toBe('x squared');
  });

  it('has text that is in no element for it, as people write it and where rows nest too deeply', () => {
    expect(read('x = 1')).toBe('x = 1');
    expect(read('<mrow>a<mo>+</mo>b</mrow>')).toBe('a+b');
    expect(read('<msup>e<mi>x</mi></msup>')).toBe('e^x');
    expect(read(`${'<mrow>'.repeat(1_000)}<mi>z</mi>${'</mrow>'.repeat(1_000)}`)).toBe('z');
  });

  it('is read however deep it nests', () => {
    const depth = 400;
    const text = read(`${'<msqrt>'.repeat(depth)}<mi>x</mi>${'</msqrt>'.repeat(depth)}`);
    expect(text).toContain('x');
    expect(text.length).toBeLessThan(1_000);
    const over = read(`${'<mover><mi>x</mi>'.repeat(100)}<mi>y</mi>${'</mover>'.repeat(100)}`);
    expect(over).toContain('y');
  });

  it('is read however long it is', () => {
    const row = '<msup><mi>x</mi><mi>n</mi></msup>'.repeat(30_000);
    expect(read(`<mfrac><mrow>${row}</mrow><mtext>${'('.repeat(100_000)}</mtext></mfrac>`)).toContain(
      'x^n x^n',
    );
  });
});
