/**
 * The meanings of the characters of symbol fonts, from 20 to FF in rows of sixteen. The signs of Wingdings and Webdings
 * follow Unicode's table of 2012 (L2/12-368), those of Symbol and Zapf Dingbats Adobe's (symbol.txt, zdingbat.txt, at
 * unicode.org), with the parts of large brackets that Unicode has gained since. Ticks, crosses, boxes to be ticked and the
 * arrows that Word makes of `-->` are written in their common forms (☑ for 🗹), since few fonts have the others. `�` is
 * where a font has nothing.
 */
type Rows = readonly string[];

const SYMBOL: Rows = [
  ' !∀#∃%&∋()∗+,−./',
  '0123456789:;<=>?',
  '≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟ',
  'ΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_',
  '‾αβχδεφγηιϕκλμνο',
  'πθρστυϖωξψζ{|}∼�',
  '����������������',
  '����������������',
  '€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓',
  '°±″≥×∝∂•÷≠≡≈…⏐⎯↵',
  'ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉',
  '∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓',
  '◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪',
  '�⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭�',
];

const ZAPF_DINGBATS: Rows = [
  ' ✁✂✃✄☎✆✇✈✉☛☞✌✍✎✏',
  '✐✑✒✓✔✕✖✗✘✙✚✛✜✝✞✟',
  '✠✡✢✣✤✥✦✧★✩✪✫✬✭✮✯',
  '✰✱✲✳✴✵✶✷✸✹✺✻✼✽✾✿',
  '❀❁❂❃❄❅❆❇❈❉❊❋●❍■❏',
  '❐❑❒▲▼◆❖◗❘❙❚❛❜❝❞�',
  '❨❩❪❫❬❭❮❯❰❱❲❳❴❵��',
  '����������������',
  '�❡❢❣❤❥❦❧♣♦♥♠①②③④',
  '⑤⑥⑦⑧⑨⑩❶❷❸❹❺❻❼❽❾❿',
  '➀➁➂➃➄➅➆➇➈➉➊➋➌➍➎➏',
  '➐➑➒➓➔→↔↕➘➙➚➛➜➝➞➟',
  '➠➡➢➣➤➥➦➧➨➩➪➫➬➭➮➯',
  '�➱➲➳➴➵➶➷➸➹➺➻➼➽➾�',
];

const WINGDINGS: Rows = [
  ' 🖉✂✁👓🕭🕮🕯🕿✆🖂🖃📪📫📬📭',
  '🗀🗁🗎🗏🗐🗄⌛🖮🖰🖲🖳🖴🖫🖬✇✍',
  '🖎✌🖏👍👎☜☞☝☟🖐☺😐☹💣🕱🏳',
  '🏱✈☼🌢❄🕆✞🕈✠✡☪☯🕉☸♈♉',
  '♊♋♌♍♎♏♐♑♒♓🙰🙵⚫🔾◼☐',
  '☐❑❒🞟⧫◆❖⬩☒⮹⌘🏵🏶🙶🙷▯',
  '🄋➀➁➂➃➄➅➆➇➈➉🄌➊➋➌➍',
  '➎➏➐➑➒➓🙢🙠🙡🙣🙞🙜🙝🙟∙•',
  '⬝⭘🞆🞈🞊🞋🔿▪☐🟁🟅★🟋🟏🟓🟑',
  '⯐⌖⯎⯏⯑✪✰🕐🕑🕒🕓🕔🕕🕖🕗🕘',
  '🕙🕚🕛⮰⮱⮲⮳⮴⮵⮶⮷🙪🙫🙕🙔🙗',
  '🙖🙐🙑🙒🙓⌫⌦⮘⮚⮙⮛⮈⮊⮉⮋←',
  '→↑↓🡬🡭🡯🡮⬅➡⬆⬇🡼🡽🡿🡾⇦',
  '⇨⇧⇩⬄⇳⬁⬀⬃⬂🢬🢭✗✓☒☑�',
];

const WINGDINGS_2: Rows = [
  ' 🖊🖋🖌🖍✄✀🕾🕽🗅🗆🗇🗈🗉🗊🗋',
  '🗌🗍📋🗑🗔🖵🖶🖷🖸🖭🖯🖱🖒🖓🖘🖙',
  '🖚🖛👈👉🖜🖝🖞🖟🖠🖡👆👇🖢🖣🖑✗',
  '✓☒☑☒☒⮾⮿🛇⦸🙱🙴🙲🙳‽🙹🙺',
  '🙻🙦🙤🙥🙧🙚🙘🙙🙛⓪①②③④⑤⑥',
  '⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿�',
  '☉🌕☽☾⸿✝🕇🕜🕝🕞🕟🕠🕡🕢🕣🕤',
  '🕥🕦🕧🙨🙩⋅🞄⦁●○🞅🞇🞉⊙⦿🞌',
  '🞍◾■☐🞑🞒🞓🞔▣🞕🞖🞗🞘⬩⬥◇',
  '🞚◈🞛🞜🞝🞞⬪⬧◊🞠◖◗⯊⯋⯀⯁',
  '⬟⯂⬣⬢⯃⯄🞡🞢🞣🞤🞥🞦🞧🞨🞩🞪',
  '🞫🞬🞭🞮🞯🞰🞱🞲🞳🞴🞵🞶🞷🞸🞹🞺',
  '🞻🞼🞽🞾🞿🟀🟂🟄🟆🟉🟊✶🟌🟎🟐🟒',
  '✹🟃🟇✯🟍🟔⯌⯍※⁂������',
];

const WINGDINGS_3: Rows = [
  ' ⭠⭢⭡⭣⭦⭧⭩⭨⭰⭲⭱⭳⭶⭸⭻',
  '⭽⭤⭥⭪⭬⭫⭭⭍⮠⮡⮢⮣⮤⮥⮦⮧',
  '⮐⮑⮒⮓⮀⮃⭾⭿⮄⮆⮅⮇⮏⮍⮎⮌',
  '⭮⭯⎋⌤⌃⌥␣⍽⇪⮸🢠🢡🢢🢣🢤🢥',
  '🢦🢧🢨🢩🢪🢫🡐🡒🡑🡓🡔🡕🡗🡖🡘🡙',
  '▲▼△▽◀▶◁▷◣◢◤◥🞀🞂🞁�',
  '🞃⯅⯆⯇⯈⮜⮞⮝⮟🠐🠒🠑🠓🠔🠖🠕',
  '🠗🠘🠚🠙🠛🠜🠞🠝🠟🠀🠂🠁🠃🠄🠆🠅',
  '🠇🠈🠊🠉🠋🠠🠢🠤🠦🠨🠪🠬🢜🢝🢞🢟',
  '🠮🠰🠲🠴🠶🠸🠺🠹🠻🢘🢚🢙🢛🠼🠾🠽',
  '🠿🡀🡂🡁🡃🡄🡆🡅🡇⮨⮩⮪⮫⮬⮭⮮',
  '⮯🡠🡢🡡🡣🡤🡥🡧🡦🡰🡲🡱🡳🡴🡵🡷',
  '🡶🢀🢂🢁🢃🢄🢅🢇🢆🢐🢒🢑🢓🢔🢖🢕',
  '🢗���������������',
];

const WEBDINGS: Rows = [
  ' 🕷🕸🕲🕶🏆🎖🖇🗨🗩🗰🗱🌶🎗🙾🙼',
  '🗕🗖🗗⏴⏵⏶⏷⏪⏩⏮⏭⏸⏹⏺🗚🗳',
  '🛠🏗🏘🏙🏚🏜🏭🏛🏠🏖🏝🛣🔍🏔👁👂',
  '🏞🏕🛤🏟🛳🕬🕫🕨🔈🎔🎕🗬🙽🗭🗪🗫',
  '⮔✔🚲⬜🛡📦🛱⬛🚑🛈🛩🛰🟈🕴⬤🛥',
  '🚔🗘🗙❓🛲🚇🚍⛳⦸⊖🚭🗮⏐🗯🗲�',
  '🚹🚺🛉🛊🚼👽🏋⛷🏂🏌🏊🏄🏍🏎🚘🗠',
  '🛢💰🏷💳👪🗡🗢🗣✯🖄🖅🖃🖆🖹🖺🖻',
  '🕵🕰🖽🖾📋🗒🗓🕮📚🗞🗟🗃🗂🖼🎭🎜',
  '🎘🎙🎧💿🎞📷🎟🎬📽📹📾📻🎚🎛📺💻',
  '🖥🖦🖧🕹🎮🕻🕼📟🖁🖀🖨🖩🖿🖪🗜🔒',
  '🔓🗝📥📤🕳🌣🌤🌥🌦☁🌨🌧🌩🌪🌬🌫',
  '🌜🌡🛋🛏🍽🍸🛎🛍Ⓟ♿🛆🖈🎓🗤🗥🗦',
  '🗧🛪🐿🐦🐟🐕🐈🙬🙮🙭🙯🗺🌍🌏🌎🕊',
];

const NOTHING = '�';
const FIRST = 0x20;

/** The signs of a font by the codes of its characters. */
export type SignTable = ReadonlyMap<number, string>;

const tableOf = (rows: Rows): SignTable =>
  new Map(
    Array.from(rows.join(''), (sign, index) => [index + FIRST, sign] as const).filter(
      ([, sign]) => sign !== NOTHING,
    ),
  );

export const SIGN_TABLES = {
  symbol: tableOf(SYMBOL),
  zapfdingbats: tableOf(ZAPF_DINGBATS),
  wingdings: tableOf(WINGDINGS),
  wingdings2: tableOf(WINGDINGS_2),
  wingdings3: tableOf(WINGDINGS_3),
  webdings: tableOf(WEBDINGS),
} as const;
