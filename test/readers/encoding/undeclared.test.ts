import { describe, expect, test } from '@jest/globals';
import iconv from 'iconv-lite';
import { readBlocks } from '../../support/read-blocks.js';

const RUSSIAN = 'Вчера вечером мы долго гуляли по набережной и говорили о книгах, которые читали летом.';
const GREEK = 'Το καράβι έφυγε από το λιμάνι νωρίς το πρωί, πριν ανατείλει ο ήλιος πίσω από τα βουνά.';
const JAPANESE =
  '昨日は友達と一緒に駅前の新しい喫茶店へ行きました。とても静かで、コーヒーもおいしかったです。';
const CHINESE = '昨天下午我们一起去了河边的公园，孩子们在草地上放风筝，老人坐在树下聊天。';

/** A sentence of about a hundred bytes in each encoding. */
const SENTENCES: readonly (readonly [encoding: string, text: string])[] = [
  [
    'windows-1252',
    'Gestern haben wir die Fähre verpasst und mussten über Nacht im Städtchen am Fluß bleiben.',
  ],
  [
    'windows-1252',
    'Hier soir, après le dîner, nous avons marché jusqu’à la forêt où les chênes ont été coupés.',
  ],
  [
    'windows-1252',
    'El niño preguntó si mañana habría clase; la maestra le contestó que sí, después del desayuno.',
  ],
  [
    'windows-1252',
    'The driver said he wouldn’t wait — “not even five minutes” — and so we didn’t catch the train.',
  ],
  [
    'windows-1250',
    'Wczoraj późnym wieczorem pociąg zatrzymał się w szczerym polu i nikt nie wiedział dlaczego.',
  ],
  ['windows-1250', 'Včera večer jsme šli podél řeky až k mlýnu, kde už nikdo dlouhá léta nežije.'],
  [
    'iso-8859-2',
    'A régi hídon túl egy apró üzlet áll, ahol a nagymamám mindig friss kenyeret és tejfölt vásárolt. Żółć',
  ],
  // Without the euro it would be windows-1252.
  ['iso-8859-15', 'Im Café gegenüber trinkt man süßen Tee für 3,20 €.'],
  ['iso-8859-15', 'Ça coûte 12,50 € par personne, goûter compris.'],
  ['windows-1251', RUSSIAN],
  ['koi8-r', RUSSIAN],
  ['iso-8859-5', RUSSIAN],
  ['windows-1253', GREEK],
  ['iso-8859-7', GREEK],
  [
    'windows-1254',
    'Dün akşam şehrin eski çarşısında yürürken ağaçların altında oturan iki yaşlı balıkçı gördük.',
  ],
  ['windows-1255', 'אתמול בערב הלכנו לאורך החוף וראינו את הסירות חוזרות אל הנמל הקטן לפני רדת החשכה.'],
  ['windows-1256', 'ذهبنا أمس إلى السوق القديم واشترينا الخبز والزيتون ثم عدنا إلى البيت قبل غروب الشمس.'],
  [
    'windows-1257',
    'Vakar vakare ilgai vaikščiojome palei upę ir kalbėjomės apie knygas, kurias skaitėme vasarą.',
  ],
  ['windows-874', 'เมื่อวานนี้เราเดินเล่นริมแม่น้ำและซื้อผลไม้จากตลาดเก่าก่อนกลับบ้านตอนเย็น'],
  ['shiftjis', JAPANESE],
  // Old lists of banks have kana of half the width among signs of two bytes.
  ['shiftjis', '振込先 ﾐﾅﾄｷﾞﾝｺｳ 口座名義 ｻﾄｳ ﾊﾅｺ'],
  ['euc-jp', JAPANESE],
  ['gbk', CHINESE],
  ['gb18030', CHINESE],
  ['big5', '昨天下午我們一起去了河邊的公園，孩子們在草地上放風箏，老人坐在樹下聊天。'],
  ['euc-kr', '어제 저녁에 우리는 강가를 따라 오래 걸으면서 여름에 읽은 책들에 대해 이야기했습니다.'],
  ['utf-16le', RUSSIAN],
  ['utf-16be', JAPANESE],
  ['utf-16le', CHINESE],
  // A line end alone tells that its letters have two bytes.
  ['utf-16le', '宛先：鈴木\r\n'],
  ['utf-16be', '宛先：鈴木\r\n'],
];

describe('a short text that names no encoding', () => {
  test.each(SENTENCES)('is read in %s: %s', async (encoding, text) => {
    const bytes = iconv.encode(text, encoding, { addBOM: false });
    expect((await readBlocks('text', bytes)).text).toBe(text);
  });

  test.each(['first line\n\0second lines', 'a first line\r\n\0the second'])(
    'is UTF-8 where a program has left a zero behind the end of a line: %j',
    async (text) => {
      expect((await readBlocks('text', Buffer.from(text))).text).toBe(text);
    },
  );

  test('has the letters of Vietnamese in one piece, whose tones are apart in windows-1258', async () => {
    const written = 'Hôm qua trời mưa rất to, chúng tôi phải ở nhà đọc sách và uống trà.';
    const apart = Array.from(written, (letter) => {
      const [, base = letter, tone = ''] =
        /^(.[\u0302\u0306\u031b]?)([\u0300\u0301\u0303\u0309\u0323])$/u.exec(letter.normalize('NFD')) ?? [];
      return base.normalize('NFC') + tone;
    });
    expect((await readBlocks('text', iconv.encode(apart.join(''), 'windows-1258'))).text).toBe(written);
  });

  test('is read in ISO-2022-JP and ISO-2022-KR by their escape sequences', async () => {
    const japanese = Buffer.from('\u001b$B2q5D$N;qNA\u001b(B (draft)', 'latin1');
    expect((await readBlocks('text', japanese)).text).toBe('会議の資料 (draft)');
    const korean = Buffer.from('\u001b$)C\u000e0!3*4Y\u000f abc', 'latin1');
    expect((await readBlocks('text', korean)).text).toBe('가나다 abc');
  });

  test('is read as surely when it is longer', async () => {
    const starts = 'пере за вы от при под про на до раз у по'.split(' ');
    const ends = 'ходить носить водить писать читать работать говорить смотреть бежать думать'.split(' ');
    const text = starts.flatMap((start) => ends.map((end) => `${start}${end}`)).join(' ');
    for (const encoding of ['cp866', 'iso-8859-5', 'koi8-r', 'windows-1251'])
      expect((await readBlocks('text', iconv.encode(text, encoding))).text).toBe(text);
  });

  test('is known by the words alone in a table of numbers', async () => {
    const rows = (name: string, city: string) =>
      `id;name;city;amount\n1;${name};${city};10,50\n2;Smith;London;22,00\n3;Jones;Oslo;7,25\n`;
    const cases = [
      ['shiftjis', rows('鈴木一郎', '大阪市中央区')],
      ['windows-1251', rows('Смирнов Алексей', 'Новосибирск')],
      ['koi8-r', rows('Смирнов Алексей', 'Новосибирск')],
      ['windows-1252', rows('Jürgen Groß', 'Köln')],
      ['windows-1250', rows('Zdeněk Dvořák', 'Plzeň')],
      ['gb18030', rows('王小明', '上海市')],
    ] as const;
    for (const [encoding, text] of cases) {
      const [, row = ''] = text.split('\n');
      const read = await readBlocks('csv', iconv.encode(text, encoding));
      expect(read.text).toContain(`| ${row.replaceAll(';', ' | ')} |`);
    }
  });

  test('is UTF-8 where one byte of it is broken', async () => {
    const bytes = Buffer.concat([
      Buffer.from('Größe und Länge in Fuß, '),
      Buffer.from([0xe4]),
      Buffer.from(' übrig'),
    ]);
    expect((await readBlocks('text', bytes)).text).toBe('Größe und Länge in Fuß, \ufffd übrig');
  });

  test('is named as guessed with both encodings where these are about as likely', async () => {
    const close = await readBlocks('text', Buffer.from([0x31, 0x30, 0x20, 0xbd, 0x20, 0x32]));
    expect(close.receipt.gap_counts).toEqual({ guessed: 1 });
    expect(close.gaps[0]).toMatch(/guessed: .* read as \S+, and \S+ is as likely\./);
    expect((await readBlocks('text', iconv.encode(RUSSIAN, 'koi8-r'))).receipt.gap_count).toBe(0);
    expect((await readBlocks('text', RUSSIAN)).receipt.gap_count).toBe(0);
  });
});
