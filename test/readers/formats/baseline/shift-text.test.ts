import { describe, expect, it } from '@jest/globals';
import { shiftText } from '../../../../src/readers/formats/baseline/shift-text.js';
import type { Shift } from '../../../../src/readers/formats/baseline/shift.js';

/** Each as text with `^{…}` around what is raised and `_{…}` around what is lowered, and as it is written. */
const RAISED: readonly (readonly [string, string])[] = [
  // Powers and units
  ['10^{6} cells', '10⁶ cells'],
  ['10^{-6} m', '10⁻⁶ m'],
  ['10^{−6} m', '10⁻⁶ m'],
  ['10^{–6} m', '10⁻⁶ m'],
  ['12 m^{2}.', '12 m².'],
  ['m s^{-1}', 'm s⁻¹'],
  ['x^{n}', 'x^n'],
  ['x^{n}y', 'x^(n)y'],
  ['x^{n}2', 'x^(n)2'],
  ['2^{n+1}', '2^(n+1)'],
  ['e^{a+b}', 'e^(a+b)'],
  ['x^{1/2}', 'x^(1/2)'],
  ['x^{0.5}', 'x^(0.5)'],
  ['x^{∞}', 'x^∞'],
  ['A^{T}', 'A^T'],
  ['v^{max}', 'v^max'],
  ['x^{²}', 'x²'],
  ['10^{６}', '10⁶'],
  ['10^{－６}', '10⁻⁶'],
  ['SO^{２－}', 'SO²⁻'],
  ['Na^{＋}', 'Na⁺'],
  ['f^{(n)}', 'f^(n)'],
  ['f^{(2)}', 'f⁽²⁾'],
  ['e^{(a)(b)}', 'e^((a)(b))'],
  // Chemistry
  ['^{14}C', '¹⁴C'],
  ['Ca^{2+}', 'Ca²⁺'],
  ['Cl^{-}', 'Cl⁻'],
  // Marks of notes
  ['treaty^{1} was', 'treaty¹ was'],
  ['ministers^{2,3}', 'ministers²,³'],
  ['ministers^{2, 3}', 'ministers², ³'],
  ['ministers^{2–5}', 'ministers²–⁵'],
  ['In 2019^{3}', 'In 2019³'],
  ['the end.^{12}', 'the end.¹²'],
  ['word^{*}', 'word*'],
  ['word^{†}', 'word†'],
  ['Jones^{1,2,*}', 'Jones¹,²,*'],
  ['word^{[2]}', 'word[2]'],
  ['word^{[note 1]}', 'word[note 1]'],
  ['word^{[1][2]}', 'word[1][2]'],
  ['word^{1)}', 'word¹⁾'],
  ['^{1.} See', '¹. See'],
  ['word^{a}', 'word^a'],
  ['word^{a,b}', 'word^(a,b)'],
  ['12.5^{a}', '12.5^a'],
  ['^{a}Department', '^(a)Department'],
  ['^{a} Values', '^a Values'],
  ['説明^{注1}', '説明^(注1)'],
  // Ordinals and abbreviations
  ['5^{th} floor', '5th floor'],
  ['21^{ST}', '21ST'],
  ['1^{er} mai', '1er mai'],
  ['2^{e}', '2e'],
  ['1^{ère}', '1ère'],
  ['XIX^{e} siècle', 'XIXe siècle'],
  ['8^{ste}', '8ste'],
  ['the n^{th} time', 'the nth time'],
  ['(n+1)^{th}', '(n+1)th'],
  ['1^{o}', '1º'],
  ['20^{o}C', '20°C'],
  ['20 ^{o}C today', '20 °C today'],
  ['68^{o}F.', '68°F.'],
  ['5^{o} Congreso', '5º Congreso'],
  ['1.^{a} edición', '1.ª edición'],
  ['M^{me} Curie', 'Mme Curie'],
  ['M^{lle}', 'Mlle'],
  ['N^{o} 5', 'No 5'],
  ['n^{os} 5', 'nos 5'],
  ['D^{r} Who', 'Dr Who'],
  ['the C^{ie}', 'the Cie'],
  ['M^{c}Donald', 'McDonald'],
  // Signs
  ['Quire^{TM}', 'Quire™'],
  ['Quire^{SM}', 'Quire℠'],
  ['Quire^{®}', 'Quire®'],
  ['20 ^{°}C', '20 °C'],
  ['x^{′}', 'x′'],
  // Small print and blanks
  ['^{All prices without tax.}', 'All prices without tax.'],
  ['One (^{see below}) two', 'One (see below) two'],
  ['Price^{without tax}', 'Price^(without tax)'],
  ['10^{ 6 }cells', '10 ⁶ cells'],
  ['a^{ }b', 'a b'],
  ['a^{}b', 'ab'],
  ['word^{1\n2}', 'word¹\n²'],
];

const LOWERED: readonly (readonly [string, string])[] = [
  ['H_{2}O', 'H₂O'],
  ['CO_{2}', 'CO₂'],
  ['x_{i}', 'x_i'],
  ['x_{i}y', 'x_(i)y'],
  ['v_{max} =', 'v_max ='],
  ['a_{n+1}', 'a_(n+1)'],
  ['a_{-1}', 'a₋₁'],
  ['x_{1,2}', 'x₁,₂'],
  ['log_{10}', 'log₁₀'],
  ['T_{1/2}', 'T_(1/2)'],
  ['O_{6.5}', 'O_(6.5)'],
  ['x_{*}', 'x_*'],
  ['1_{th}', '1_th'],
  ['_{Small print}', 'Small print'],
];

const PATTERN = /^([^]*?)[_^]\{([^]*?)\}([^]*)$/u;

function written(text: string, shift: Shift): string {
  const [, before = '', inner = '', after = ''] = PATTERN.exec(text) ?? [];
  return before + shiftText(inner, shift, { before, after }) + after;
}

describe('raised text', () => {
  it.each(RAISED)('%j is written %j', (text, expected) => {
    expect(written(text, 'raised')).toBe(expected);
  });
});

describe('lowered text', () => {
  it.each(LOWERED)('%j is written %j', (text, expected) => {
    expect(written(text, 'lowered')).toBe(expected);
  });
});
