import { hashTerm } from '../hash-term.js';
import { stopWords } from '../stop-words.js';
import { foldAccents } from './fold-letters.js';
import { isDotted, isParagraph, standsOut } from '../word-spans.js';

const FULL_STOP = 0x2e;
const BLANK = 0x20;
const LAST_CAPITAL = 0x5a;
const isCapital = (unit: number): boolean => unit >= 0x41 && unit <= 0x5a;
const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;

/** Returns a term that exists because of its surroundings: `.net`, `§12`, `art 6`, or `IT` where it is no stop word. */
export function markedTerm(text: string, start: number, end: number): number | null {
  const first = text.charCodeAt(start);
  const before = text.charCodeAt(start - 1);
  // Nearly all words are such, so that this is quick.
  if (first > LAST_CAPITAL && before === BLANK) return null;
  if (isDigit(first))
    return isParagraph(text, start) ? hashTerm(`§${text.slice(start, end)}`) : numberedTerm(text, start, end);
  if (before === FULL_STOP && isDotted(text, start))
    return hashTerm(`.${text.slice(start, end).toLowerCase()}`);
  return isCapital(first) && end - start <= MAX_LENGTH ? capitalTerm(text, start, end) : null;
}

const NUMBERED = /(?<![\p{L}\p{M}\p{N}])(\p{L}[\p{L}\p{M}]{0,13})(\.?) $/u;
const BEFORE_NUMBER = 17;
const MAX_ABBREVIATION_LENGTH = 5;
const MAX_DIGITS = 4;
/** Words that number the parts of a text, without accents, in the languages of most laws and contracts here. */
const DESIGNATIONS = new Set(
  [
    'article section paragraph clause chapter part title annex appendix schedule rule item figure table page version',
    'art sec par cl ch fig tab vol pp',
    'artikel abschnitt absatz ziffer kapitel teil titel anhang anlage regel abbildung tabelle seite nummer satz',
    'abs kap nr ziff anh abb lit rn rz',
    'alinea chapitre partie titre annexe regle tableau numero',
    'articulo seccion parrafo clausula capitulo parte titulo anexo regla figura tabla pagina',
    'articolo sezione paragrafo comma clausola capitolo titolo allegato regola tabella',
    'artigo secao paragrafo regra tabela lid hoofdstuk deel bijlage pagina',
  ].flatMap((words) => words.split(' ')),
);

/**
 * Returns the term of a number together with its designation: `Art. 6`, `Section 4`. So `Art. 6 Abs. 1` is not `Art. 1 Abs.
 * 6`.
 */
function numberedTerm(text: string, start: number, end: number): number | null {
  if (end - start > MAX_DIGITS || text.charCodeAt(start - 1) !== BLANK) return null;
  for (let at = start; at < end; at += 1) if (!isDigit(text.charCodeAt(at))) return null;
  const found = NUMBERED.exec(text.slice(Math.max(0, start - BEFORE_NUMBER), start));
  const word = foldAccents(found?.[1]?.toLowerCase() ?? '');
  const isAbbreviated = found?.[2] === '.' && word.length <= MAX_ABBREVIATION_LENGTH;
  if (!isAbbreviated && !DESIGNATIONS.has(word)) return null;
  return stopWords.has(word) ? null : hashTerm(`${word} ${text.slice(start, end)}`);
}

const MAX_LENGTH = 4;
/** Stop words in capitals that are words of their own where they stand out. `I` never does. */
const CAPITALS = new Map(
  [...stopWords]
    .filter((word) => word !== 'i' && word.length <= MAX_LENGTH)
    .map((word) => [word.toUpperCase(), hashTerm(word.toUpperCase())]),
);

function capitalTerm(text: string, start: number, end: number): number | null {
  if (end - start > 1 && !isCapital(text.charCodeAt(start + 1))) return null;
  const term = CAPITALS.get(text.slice(start, end));
  return term !== undefined && standsOut(text, start, end) ? term : null;
}
