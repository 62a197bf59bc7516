// Mutants of the Lua scripts, which are texts of the TypeScript. They are marked within the text and chosen when it is sent
// (`runtime.mjs`): \u0001 number \u0002 what stands there \u0003 the mutant \u0004, also one within another.

const TOKENS =
  /--[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[=~<>]=|\.\.|[<>+\-*/]|\b(?:and|or|not)\b ?|\b(?:true|false)\b|(?<![\w.])[01](?![\w.])/g;
const OTHERS = {
  '==': ['~='],
  '~=': ['=='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  and: ['or'],
  or: ['and'],
  not: [''],
  true: ['false'],
  false: ['true'],
  0: ['1'],
  1: ['0'],
};
/** A whole line, or the last part of one, that changes something. */
const CALLS =
  /^[ \t]*(redis\.call\([^\n]*\)|[\w.[\] ]+ = [^\n]+|(?:step|change|leave|addOwned|noteTags|writeWhole)\([^\n]*\))$/gm;

/** Tells whether a text is of a script, rather than a sentence. */
export const isLua = (text) => /\bredis\.call\(|^\s*local /m.test(text);

/** The mutants of a script's source as it stands in TypeScript: from where to where, and what stands there instead. */
export function luaMutants(source) {
  const hidden = withoutInsertions(source);
  return [...tokens(hidden), ...conditions(hidden), ...statements(hidden)];
}

/** The same text in which what TypeScript inserts is letters. */
const withoutInsertions = (source) =>
  source.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, (all) => 'X'.repeat(all.length));

function tokens(source) {
  return [...source.matchAll(TOKENS)].flatMap(({ 0: token, index }) => {
    const isSign = token === '-' && !/[\w)\]] $/.test(source.slice(0, index));
    return (isSign ? [] : (OTHERS[token.trim()] ?? [])).map((other) => ({
      operator: 'Lua operator',
      from: index,
      to: index + token.length,
      text: other === '' ? '' : other + (token.endsWith(' ') ? ' ' : ''),
    }));
  });
}

function conditions(source) {
  return [...source.matchAll(/\b(?:else)?if ((?:(?!\bthen\b|\bif\b)[^])+?) then\b/g)].flatMap((match) => {
    const from = match.index + match[0].indexOf(' ') + 1;
    return ['true', 'false'].map((text) => ({
      operator: 'Lua condition',
      from,
      to: from + match[1].length,
      text,
    }));
  });
}

function statements(source) {
  return [...source.matchAll(CALLS)].flatMap((match) => {
    const from = match.index + match[0].indexOf(match[1]);
    const isBalanced = match[1].split('(').length === match[1].split(')').length;
    return isBalanced && !match[1].startsWith('local') && !/\bthen\b|\bfunction\b/.test(match[1])
      ? [{ operator: 'Lua removal', from, to: from + match[1].length, text: '' }]
      : [];
  });
}
