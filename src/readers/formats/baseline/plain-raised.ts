import type { Around, Shift } from './shift.js';

/** Notes that say by their brackets that they are none of the text: `[2]`, `[a], [b]`. */
const IN_BRACKETS = /^(?:\[[^[\]]{1,60}\][\s,;]{0,3})+$/;
/** Marks of notes and other signs that mean the same on the line, such as `*`, `†`, `®` and `°`. */
const SIGNS = /^[\p{P}\p{So}\p{Sk}\p{Lm}∗⋆ªº\s]+$/u;
const LOWERED_SIGNS = /^(?![*†‡])[\p{P}\p{Sk}\s]+$/u;

const AFTER_NUMBER = new Set(
  (
    'st nd rd th e es er ers re res ier iers ère ères ière ème èmes eme emes ième ieme nde nds ndes ' +
    'ste de te os as ro ra do da to ta mo ma vo va no na ter bis'
  ).split(' '),
);
const AFTER_ROMAN = new Set('e es er re ère ème eme ième th st nd rd'.split(' '));
const AFTER_LETTER = new Set('th st nd rd ième ieme'.split(' '));

const NUMBER = /\p{Nd}\.?$/u;
/** A letter that stands for the sign of degrees: `20 °C`. */
const DEGREES = { before: /\p{Nd}\s?$/u, after: /^\s?[CF](?![\p{L}\p{N}])/u } as const;
const ITEM_NUMBER = /(?:^|[^\p{Nd}.,])\p{Nd}{1,2}\.$/u;
const ROMAN = /(?:^|[^\p{L}\p{N}])(?:[IVX][IVXLC]{0,10}|[ivx][ivxlc]{1,10})$/u;
const SINGLE_LETTER = /(?:(?:^|[^\p{L}\p{N}])\p{L}-?|\))$/u;
const LAST_WORD = /(?:^|[^\p{L}\p{N}])(\p{L}{1,4})\.?$/u;

/** Abbreviations with only their first letters on the line. */
const ABBREVIATIONS = new Set(
  (
    'Mme Mmes Mlle Mlles Mr Mrs Ms Mgr Mgrs MM Messrs Me Mes Mc Mac Dr Drs Dre Dra Pr Prs Pre Prof Ste Stes St Sts ' +
    'Sta Sto Sr Sra Srta Sres Jr Cie Cies Vve Bd Bld Blvd Fg No Nos Nr Nrs no nos nr nrs Wm Chas Geo Jas Thos Jno ' +
    'Esq Lt Capt Col Gen Hon Revd Ltd'
  ).split(' '),
);

const TRADE_MARKS: ReadonlyMap<string, string> = new Map([
  ['TM', '™'],
  ['SM', '℠'],
]);

const STANDS_ALONE = { before: /(?:^|[\s\p{Ps}\p{Pi}])$/u, after: /^(?:$|[\s\p{Pe}\p{Pf}\p{Po}])/u } as const;
const HAS_WORD = /\p{L}{3}/u;
/** The length of the text before that is looked at. */
const NEAR = 24;

/** Returns the plain form of a raised or lowered text, without a mark; undefined where the text needs the mark. */
export function staysPlain(core: string, shift: Shift, around: Around): string | undefined {
  if (IN_BRACKETS.test(core)) return core;
  if ((shift === 'raised' ? SIGNS : LOWERED_SIGNS).test(core)) return core;
  const before = around.before.slice(-NEAR);
  const isAlone = STANDS_ALONE.before.test(before) && STANDS_ALONE.after.test(around.after);
  // Words over or under nothing are small print.
  if (isAlone && HAS_WORD.test(core)) return core;
  if (shift !== 'raised') return undefined;
  const isDegree = /^[oO]$/.test(core) && DEGREES.before.test(before) && DEGREES.after.test(around.after);
  return isDegree ? '°' : joined(core, before);
}

/** Letters of ordinals and abbreviations, and trade marks. */
function joined(core: string, before: string): string | undefined {
  if (before !== '' && TRADE_MARKS.has(core)) return TRADE_MARKS.get(core);
  const letters = core.replace(/\.$/, '').toLowerCase();
  if (letters === 'o' && NUMBER.test(before)) return core.replace(/o/i, 'º');
  if (letters === 'a' && ITEM_NUMBER.test(before)) return core.replace(/a/i, 'ª');
  const isOrdinal =
    (AFTER_NUMBER.has(letters) && NUMBER.test(before)) ||
    (AFTER_ROMAN.has(letters) && ROMAN.test(before)) ||
    (AFTER_LETTER.has(letters) && SINGLE_LETTER.test(before));
  if (isOrdinal) return core;
  const word = LAST_WORD.exec(before)?.[1] ?? '';
  return word !== '' && ABBREVIATIONS.has(word + core.replace(/\.$/, '')) ? core : undefined;
}
