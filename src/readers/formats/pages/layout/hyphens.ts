import type { Block } from '../../../blocks/block.js';
import { cutWords, type Vocabulary } from './vocabulary.js';

/** Ranges of numbers that are parted after their dash. */
const RANGE = /(?<=\d[–‑])\n(?=\d)/gu;

/** This many characters behind a cut word tell whether a compound follows. */
const LOOK_AHEAD = 60;

/** Words with which a compound goes on: `pre- and post-war`, `Ein- und Ausgang`. No syllable is a letter alone. */
const CONJUNCTION = /^(?:and|und|oder|bzw|sowie|et|ou|och|og|eller|oraz|lub|или|та|або|[aàeioyuи])$/u;
/** Conjunctions that are ends of words, too. They count where a compound goes on: `short- to medium-term`. */
const DOUBTFUL_CONJUNCTION = /^(?:or|to|nor|bis|en|of|ed|vs)$/u;
/** Words within compounds: `state-of-the-art`, `up-to-date`, `aide-de-camp`. */
const LINK = /^(?:of|the|to|in|and|or|by|up|on|for|at|de|la|le|du|sur|sous)$/iu;
/** First parts of compounds that are rarely the first syllable of a longer word, and ends that make such words of them. */
const FIRST_PART =
  /^(?:well|self|quasi|semi|vice|half|non|long|short|high|low|double|single|good|one|two|three|four|five|six|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)$/iu;
const NO_SECOND_PART = /^(?:ways?|light\w*|lands?|est|ness|sense|ment|ages?|fish\w*|.{1,3})$/iu;
/** Second parts of compounds whose first part is a word of its own. */
const SECOND_PART =
  /^(?:based|known|called|like|being|defined|established|dependent|specific|related|induced|mediated|treated|associated|level|scale|term|range|free|wide|old|dimensional|resolution|quality|fat|density|affinity|derived|expressing|controlled|regulated|blind|deficient|positive|negative|colou?red|fashioned|headed|handed|shouldered|haired|eyed|faced|minded|natured|looking|dressed|made)$/iu;

/** Joins the words of blocks that are cut at line ends, by the words elsewhere in the document. */
export function* joinHyphens(blocks: Iterable<Block>, vocabulary: Vocabulary): Iterable<Block> {
  for (const block of blocks) {
    const text = joinCutWords(block.text, vocabulary);
    yield text === block.text ? block : { ...block, text };
  }
}

/** Joins words that are cut at line ends. A hyphen that belongs to its word stays. */
function joinCutWords(text: string, vocabulary: Vocabulary): string {
  let joined = '';
  let from = 0;
  for (const { before, hyphen, after, at } of cutWords(text)) {
    const next = text.slice(at + 2 + after.length, at + 2 + after.length + LOOK_AHEAD);
    joined += text.slice(from, at) + (isSoft(hyphen) ? '' : linkOf(before, { after, next }, vocabulary));
    from = at + 2;
  }
  return (joined + text.slice(from)).replace(RANGE, '');
}

const isSoft = (hyphen: string): boolean => hyphen !== '-' && hyphen !== '\u2010';

interface Continuation {
  readonly after: string;
  /** The text behind it. */
  readonly next: string;
}

/** Returns the link between the two parts of a cut word: nothing, its own hyphen, or a hyphen and a space. */
function linkOf(before: string, { after, next }: Continuation, { count }: Vocabulary): '' | '-' | '- ' {
  const last = before.slice(before.lastIndexOf('-') + 1);
  const [first = ''] = after.split('-');
  if (isConjunction({ after, next }) && count(last + first) === 0) return '- ';
  if (/\p{N}/u.test(last) || /^\p{N}/u.test(first) || [...last].length === 1) return '-';
  const [whole, compound] = [count(last + first), count(`${last}-${first}`)];
  if (whole !== compound) return whole > compound ? '' : '-';
  if (/^\p{Lu}/u.test(first)) return isCapitals(last, first) && count(first) === 0 ? '' : '-';
  if (/^\p{Lu}{2,}$/u.test(last)) return '-';
  const isLinked =
    (before !== last && LINK.test(last) && !/^de$/iu.test(last)) || (after !== first && LINK.test(first));
  if (isLinked || (before !== last && SECOND_PART.test(first))) return '-';
  if (FIRST_PART.test(last) && !NO_SECOND_PART.test(first)) return '-';
  return SECOND_PART.test(first) && last.length > 2 && count(last) > 0 ? '-' : '';
}

function isConjunction({ after, next }: Continuation): boolean {
  if (CONJUNCTION.test(after)) return true;
  return DOUBTFUL_CONJUNCTION.test(after) && /^\s+[\p{L}\p{N}]{1,40}-\p{L}/u.test(next);
}

/** Tells whether both parts are of a word in capitals. Shorter ones are names: `NATO-EU`. */
const isCapitals = (last: string, first: string): boolean =>
  /^\p{Lu}+$/u.test(last) && /^\p{Lu}{3,}$/u.test(first);
