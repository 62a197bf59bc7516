/** Sentences of each language, written for this test, from which documents are made. */
export const SENTENCES = {
  en: [
    'The ferry leaves the island at seven in the morning.',
    'Nobody had told the gardener about the broken pump.',
    '“Wait for me,” she said – but the train didn’t wait.',
    'Prices rose by 4.5 % last year, from €120 to €125.40.',
    'Please return the signed form before the 3rd of May.',
    'A café at the corner sells naïve paintings and crème brûlée.',
  ],
  de: [
    'Die Brücke über den Fluss wird im Frühjahr ausgebessert.',
    'Müller schickte „größere Mengen“ Käse nach Österreich.',
    'Im Café gegenüber trinkt man süßen Tee für 3,20 €.',
    'Der Schlüssel lag weiß der Himmel wo – vermutlich im Keller.',
    'Ihre Straßenbahn fährt täglich außer samstags um 6:45 Uhr.',
  ],
  fr: [
    'L’élève a oublié ses clés à l’hôtel près de la forêt.',
    'Le cœur de l’œuvre paraît être dans son troisième acte.',
    'Où êtes-vous né, et quand avez-vous quitté la Grèce ?',
    'Ça coûte 12,50 € par personne, goûter compris.',
    'Nous avons dû attendre jusqu’à la fin de l’été.',
  ],
  pl: [
    'Zażółć gęślą jaźń, powiedział stary nauczyciel i wyszedł.',
    'Wczoraj wieczorem kupiliśmy świeży chleb i trochę masła.',
    'Ściany domu są białe, a drzwi mają kolor zielony.',
    'Dziękuję za wiadomość, odpiszę jeszcze w tym tygodniu.',
    'Rzeka płynie przez miasto i wpada do morza koło Gdańska.',
  ],
  cs: [
    'Příliš žluťoučký kůň úpěl ďábelské ódy celou noc.',
    'Vlak do Brna odjíždí každý den v šest hodin ráno.',
    'Děti si hrály na dvoře, dokud nezačalo pršet.',
    'Nejlepší koláče dělá moje babička z čerstvých švestek.',
    'Všichni účastníci musí odevzdat přihlášku včas.',
  ],
  hu: [
    'A vonat minden reggel hét órakor indul a fővárosból.',
    'Kérjük, őrizze meg a számlát a jótállás idejére.',
    'Az öreg kertész új rózsákat ültetett a ház elé.',
    'Holnap délután elmegyünk a könyvtárba és sétálunk egyet.',
  ],
  tr: [
    'Çocuklar bahçede koşuyor ve yüksek sesle gülüyorlardı.',
    'İstanbul’da yağmur yağdığı için uçuşlar gecikti.',
    'Öğretmen, sınıfa ağır bir çanta ile girdi.',
    'Kahvaltıda ekmek, peynir, zeytin ve sıcak çay vardı.',
    'Lütfen başvuru formunu ayın sonuna kadar gönderiniz.',
  ],
  vi: [
    'Chuyến tàu đi Huế khởi hành lúc bảy giờ sáng.',
    'Ngôi nhà của chúng tôi nằm cạnh một con sông nhỏ.',
    'Xin vui lòng gửi lại mẫu đơn trước ngày mười tháng năm.',
  ],
  ru: [
    'Поезд отправляется с третьего пути в семь часов утра.',
    'Съешь ещё этих мягких французских булок, да выпей чаю.',
    'Старый садовник посадил у дома новые розы.',
    'Пожалуйста, верните подписанный договор до конца месяца.',
    'В прошлом году цены выросли почти на пять процентов.',
  ],
  uk: [
    'Потяг до Львова вирушає щоранку о сьомій годині.',
    'Їхній дім стоїть на березі невеликої річки.',
    'Будь ласка, поверніть підписану угоду до кінця місяця.',
    'Ґанок прикрашали квіти, а в’язка дров лежала поруч.',
  ],
  el: [
    'Το τρένο φεύγει κάθε πρωί στις επτά από τον σταθμό.',
    'Ο γέρος κηπουρός φύτεψε καινούργια τριαντάφυλλα.',
    'Παρακαλούμε επιστρέψτε το έντυπο πριν από τις 3 Μαΐου.',
    'Η τιμή αυξήθηκε πέρυσι σχεδόν πέντε τοις εκατό.',
  ],
  lt: [
    'Traukinys į Vilnių išvyksta kiekvieną rytą septintą valandą.',
    'Senas sodininkas pasodino naujų rožių prie namų.',
    'Prašome grąžinti pasirašytą sutartį iki mėnesio pabaigos.',
    'Praėjusiais metais kainos pakilo beveik penkiais procentais.',
  ],
  he: [
    'הרכבת יוצאת מהתחנה כל בוקר בשעה שבע.',
    'הגנן הזקן שתל ורדים חדשים ליד הבית.',
    'אנא החזירו את הטופס החתום עד סוף החודש.',
  ],
  ar: [
    'يغادر القطار المحطة كل صباح في الساعة السابعة.',
    'زرع البستاني العجوز وردا جديدا أمام البيت.',
    'يرجى إعادة النموذج الموقع قبل نهاية الشهر.',
  ],
  fa: [
    'قطار هر روز صبح ساعت هفت حرکت می‌کند.',
    'باغبان پیر گل‌های تازه‌ای کنار خانه کاشت.',
    'لطفا فرم امضا شده را تا پایان ماه بفرستید.',
  ],
  hi: [
    'रेलगाड़ी हर सुबह सात बजे स्टेशन से चलती है।',
    'बूढ़े माली ने घर के पास नए गुलाब लगाए।',
    'कृपया हस्ताक्षर किया हुआ पत्र महीने के अंत तक लौटाएँ।',
  ],
  th: ['รถไฟออกจากสถานีทุกเช้าเวลาเจ็ดโมง', 'คนสวนชราปลูกกุหลาบใหม่ไว้หน้าบ้าน', 'กรุณาส่งแบบฟอร์มที่ลงชื่อแล้วก่อนสิ้นเดือน'],
  ja: [
    '列車は毎朝七時に駅を出発します。',
    '年老いた庭師は家の前に新しいバラを植えた。',
    '署名した用紙を月末までに返送してください。',
    'カフェではコーヒーとケーキを注文できる。',
  ],
  zh: [
    '火车每天早上七点从车站出发。',
    '老园丁在房子前面种了新的玫瑰。',
    '请在月底之前把签好字的表格寄回来。',
    '去年的价格上涨了将近百分之五。',
  ],
  'zh-Hant': [
    '火車每天早上七點從車站出發。',
    '老園丁在房子前面種了新的玫瑰。',
    '請在月底之前把簽好字的表格寄回來。',
    '去年的價格上漲了將近百分之五。',
  ],
  ko: [
    '기차는 매일 아침 일곱 시에 역을 출발합니다.',
    '늙은 정원사는 집 앞에 새 장미를 심었다.',
    '서명한 서류를 이달 말까지 돌려보내 주십시오.',
    '작년에는 물가가 거의 오 퍼센트 올랐다.',
  ],
  ka: ['მატარებელი ყოველ დილით შვიდ საათზე გადის.', 'მოხუცმა მებაღემ სახლთან ახალი ვარდები დარგო.'],
  hy: ['Գնացքը մեկնում է ամեն առավոտ ժամը յոթին։', 'Ծեր այգեպանը տան մոտ նոր վարդեր տնկեց։'],
} as const;

export type Language = keyof typeof SENTENCES;

export const ALL_LANGUAGES: readonly Language[] = [
  ...(['en', 'de', 'fr', 'pl', 'cs', 'hu', 'tr', 'vi', 'ru', 'uk', 'el', 'lt'] as const),
  ...(['he', 'ar', 'fa', 'hi', 'th', 'ja', 'zh', 'zh-Hant', 'ko', 'ka', 'hy'] as const),
];

/** Languages whose letters stand side by side from left to right in fonts that are widely installed. */
export const PLAIN_LANGUAGES: readonly Language[] = [
  'en',
  'de',
  'fr',
  'pl',
  'cs',
  'hu',
  'tr',
  'ru',
  'uk',
  'el',
  'lt',
];
