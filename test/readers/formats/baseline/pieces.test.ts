import { describe, expect, it } from '@jest/globals';
import { writePieces, type Piece } from '../../../../src/readers/formats/baseline/pieces.js';

const plain = (text: string): Piece => ({ text, shifts: [] });
const up = (text: string): Piece => ({ text, shifts: ['raised'] });
const down = (text: string): Piece => ({ text, shifts: ['lowered'] });

describe('a text of raised and lowered pieces', () => {
  it('has neighbours that are raised alike as one', () => {
    expect(writePieces([plain('10'), up('⁻'), up(''), up('6'), plain(' m')])).toBe('10⁻⁶ m');
    expect(writePieces([plain('10'), up('-'), plain(''), up('6'), plain(' m')])).toBe('10⁻⁶ m');
    expect(writePieces([plain('M'), plain('C'), up('t'), up('h')])).toBe('MC^th');
    expect(writePieces([plain('2'), plain('5'), up('t'), up('h'), plain(' day')])).toBe('25th day');
  });

  it('keeps what is raised and what is lowered apart', () => {
    expect(writePieces([plain('SO'), down('4'), up('2-'), plain(' ions')])).toBe('SO₄²⁻ ions');
    expect(writePieces([plain('x'), down('i'), up('n')])).toBe('x_i^n');
    expect(writePieces([plain('x'), down('i'), up('th')])).toBe('x_(i)th');
    expect(writePieces([up('1'), plain('/'), down('2')])).toBe('¹/₂');
  });

  it('keeps a power of a power', () => {
    const twice = (text: string): Piece => ({ text, shifts: ['raised', 'raised'] });
    expect(writePieces([plain('2'), up('2'), twice('n')])).toBe('2^(2^n)');
    expect(writePieces([plain('2'), up('2'), twice('2')])).toBe('2^(2²)');
    expect(writePieces([plain('x'), up('i'), { text: '1', shifts: ['raised', 'lowered'] }])).toBe('x^(i₁)');
  });

  it('leaves a text of ordinary pieces as it is', () => {
    expect(writePieces([plain('one '), plain('two')])).toBe('one two');
    expect(writePieces([])).toBe('');
  });
});
