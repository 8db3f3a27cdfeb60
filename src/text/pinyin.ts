/** Syllables of Chinese characters, for suggestions and as the last resort of a search. From ICU's pinyin collation: only the borders between syllables are data. */

/**
 * In the order of ICU's pinyin collation the characters of one syllable stand together. Each entry: the first character of a syllable and
 * the syllable, ü as v. A character belongs to the last entry that is not after it.
 */
const borders = `
吖a 哎ai 安an 肮ang 凹ao 丷ba 挀bai 扳ban 邦bang 勹bao 卑bei 奔ben 伻beng 屄bi 边bian 灬biao 憋bie 汃bin 冫bing 癶bo 峬bu
嚓ca 偲cai 参can 仓cang 撡cao 冊ce 嵾cen 曽ceng 叉cha 拆chai 辿chan 伥chang 抄chao 车che 抻chen 阷cheng 吃chi 充chong
抽chou 出chu 歘chua 揣chuai 巛chuan 刅chuang 吹chui 旾chun 逴chuo 呲ci 匆cong 凑cou 粗cu 汆cuan 崔cui 邨cun 搓cuo 咑da
呆dai 丹dan 当dang 刀dao 嘚de 扥den 灯deng 氐di 嗲dia 敁dian 刁diao 爹die 丁ding 丟diu 东dong 吺dou 厾du 耑duan 垖dui
吨dun 多duo 妸e 诶ei 奀en 鞥eng 儿er 发fa 帆fan 匚fang 飞fei 分fen 丰feng 仏fo 紑fou 夫fu 旮ga 侅gai 甘gan 冈gang 皋gao
戈ge 给gei 根gen 刯geng 工gong 勾gou 估gu 瓜gua 乖guai 关guan 光guang 归gui 丨gun 呙guo 哈ha 咍hai 佄han 夯hang 茠hao
诃he 黒hei 拫hen 亨heng 叿hong 齁hou 乎hu 花hua 怀huai 欢huan 巟huang 灰hui 昏hun 吙huo 丌ji 加jia 戋jian 江jiang
艽jiao 阶jie 巾jin 坕jing 冂jiong 丩jiu 凥ju 姢juan 噘jue 军jun 咔ka 开kai 刊kan 忼kang 尻kao 匼ke 肎ken 劥keng 空kong
抠kou 扝ku 夸kua 蒯kuai 宽kuan 匡kuang 亏kui 坤kun 扩kuo 垃la 来lai 兰lan 啷lang 捞lao 仂le 雷lei 崚leng 哩li 俩lia
奁lian 良liang 撩liao 毟lie 拎lin 伶ling 溜liu 龙long 瞜lou 噜lu 驴lv 娈luan 掠lve 抡lun 啰luo 呣m 妈ma 埋mai 嫚man
牤mang 猫mao 嚒me 坆mei 椚men 擝meng 咪mi 宀mian 喵miao 乜mie 民min 名ming 谬miu 摸mo 哞mou 毪mu 拏na 腉nai 囡nan 囔nang
孬nao 疒ne 娞nei 恁nen 能neng 嗯ng 妮ni 拈nian 娘niang 鸟niao 捏nie 囜nin 宁ning 妞niu 农nong 羺nou 奴nu 女nv 奻nuan
疟nve 挪nuo 喔o 讴ou 妑pa 拍pai 眅pan 乓pang 抛pao 呸pei 喷pen 匉peng 丕pi 囨pian 剽piao 氕pie 姘pin 乒ping 钋po 剖pou
仆pu 七qi 掐qia 千qian 呛qiang 悄qiao 苆qie 亲qin 靑qing 卭qiong 丘qiu 区qu 奍quan 炔que 夋qun 呥ran 穣rang 娆rao 惹re
人ren 扔reng 日ri 戎rong 厹rou 邚ru 挼rua 堧ruan 桵rui 瞤run 捼ruo 仨sa 毢sai 三san 桒sang 掻sao 閪se 森sen 僧seng 杀sha
筛shai 山shan 伤shang 弰shao 奢she 谁shei 申shen 升sheng 尸shi 収shou 书shu 刷shua 衰shuai 闩shuan 双shuang 脽shui
吮shun 说shuo 厶si 忪song 凁sou 苏su 狻suan 夊sui 孙sun 唆suo 他ta 囼tai 坍tan 汤tang 夲tao 忑te 熥teng 剔ti 天tian
旫tiao 帖tie 厅ting 囲tong 偷tou 凸tu 湍tuan 推tui 吞tun 乇tuo 屲wa 歪wai 弯wan 尢wang 危wei 昷wen 翁weng 挝wo 乌wu 夕xi
呷xia 仙xian 乡xiang 灱xiao 些xie 心xin 星xing 凶xiong 休xiu 吁xu 吅xuan 削xue 坃xun 丫ya 恹yan 央yang 幺yao 倻ye 一yi
囙yin 应ying 哟yo 佣yong 优you 込yu 囦yuan 曰yue 晕yun 帀za 災zai 兂zan 匨zang 傮zao 则ze 贼zei 怎zen 囎zeng 扎zha
夈zhai 枬zhan 张zhang 佋zhao 蜇zhe 贞zhen 凧zheng 之zhi 中zhong 州zhou 朱zhu 抓zhua 跩zhuai 专zhuan 妆zhuang 隹zhui
宒zhun 拙zhuo 孜zi 宗zong 邹zou 租zu 钻zuan 厜zui 尊zun 嘬zuo`
  .trim()
  .split(/\s/)

/** Readings beside the one that the collation goes by, of common characters. */
const otherReadings = new Map(
  `
阿e 薄bo 暴pu 便pian 伯bai 泊bo 藏zang 差chai,ci 单shan,chan 长zhang 朝zhao 车ju 称chen 乘sheng 澄deng 匙shi 臭xiu 传zhuan 大dai
弹tan,dan 得dei,de 的di 地di,de 调tiao,diao 都du,dou 读dou 度duo 囤dun 恶wu,e 佛fo 脯pu 盖ge 给ji,gei 谷yu 龟jun,qiu 柜ju 核hu 和huo,he 红gong 虹jiang
还huan,hai 会kuai,hui 夹ga,jia 贾gu,jia 价jie 见xian 将qiang 降xiang,jiang 嚼jue,jiao 角jue,jiao 脚jue 剿chao 解xie,jie 芥gai 劲jin,jing 颈geng 咀zui
句gou 觉jiao,jue 卡qia,ka 楷jie 扛gang,kang 壳qiao,ke 咳hai,ke 吭hang 溃hui 括gua 勒lei,le 乐yue,le,yao 肋lei 棱leng 俩liang,lia 了liao,le 碌lu,liu 六lu,liu 露lou,lu
率shuai,lv 绿lu,lv 落la,luo,lao 脉mo,mai 埋man,mai 蔓wan,man 氓meng 冒mo 么me,mo 没mo,mei 糜mei 秘bi,mi 泌bi,mi 模mu,mo 抹ma,mo 摩ma 哪na,nei 那na 难nan 宁ning 娜nuo,na
弄long,nong 疟yao 胖pan 刨bao 炮bao,pao 屏bing,ping 迫pai,po 埔bu,pu 朴piao,pu 曝bao,pu 期ji,qi 栖xi,qi 奇ji,qi 其ji 契xie,qi 铅yan,qian 浅jian 强jiang,qiang
茄jia,qie 亲qing,qin 区ou,qu 圈juan,quan 券xuan,quan 塞se,sai 色shai,se 莎suo,sha 刹cha,sha 厦xia,sha 杉sha,shan 裳chang,shang 蛇yi 射ye 沈chen,shen 参shen,cen,can
省xing,sheng 盛cheng,sheng 石dan,shi 拾she 什shen,shi 食si,shi 识zhi,shi 似si,shi 熟shou,shu 属zhu,shu 数shuo,shu 说shui,yue,shuo 宿xiu,su 缩su 汤shang 提di,ti
拓ta,tuo 万mo,wan 尾yi,wei 蔚yu,wei 尉yu,wei 无mo 吓he,xia 铣xian,xi 洗xian 系ji,xi 纤qian,xian 巷hang,xiang 削xue,xiao 校jiao,xiao 行hang,xing,heng 畜chu,xu 血xie,xue
咽ye,yan 叶xie,ye 遗wei,yi 殷yan,yin 钥yue,yao 员yun 约yao 攒cuan,zan 曾ceng,zeng 扎za,zha 轧zha,ya 粘nian,zhan 折she,zhe 殖shi 种chong,zhong 重chong,zhong
著zhuo,zhu 爪zhua,zhao 转zhuai,zhuan 椎chui,zhui 着zhuo,zhao,zhe 仔zai,zi 卒cu,zu 琢zuo,zhuo 择zhai,ze 侧zhai,ce 翟di,zhai 查zha,cha 仇qiu,chou 绰chao 重chong 单dan
堡pu,bu 柏bo,bai 扁pian,bian 番pan,fan 冯ping,feng 否pi,fou 革ji,ge 合ge,he 吁yu,xu 芍shao 缉qi,ji 稽qi,ji 豁hua,huo 哈ha 喝he 呵a,he 贲ben 单shan 盖gai 颤zhan,chan
`
    .trim()
    .split(/\s/)
    .map((entry) => [entry.charAt(0), entry.slice(1).split(',')] as const),
)

const HAN = /^[\u3400-\u9fff]$/
/** Readings that are remembered: the common characters. */
const KEPT_MAX = 8_192
/** Ways of taking letters apart that are looked at. */
const SPLITS_MAX = 16
/** Letters of a query in pinyin: some ten characters. */
const LETTERS_MAX = 64

type Tables = {
  compare: (a: string, b: string) => number
  first: readonly string[]
  syllables: readonly string[]
  known: ReadonlySet<string>
  readings: Map<string, readonly string[]>
}
let tables: Tables | null = null

/** Made when first asked for: most processes never are. */
function load(): Tables {
  tables ??= {
    compare: new Intl.Collator('zh-u-co-pinyin').compare,
    first: borders.map((entry) => entry.charAt(0)),
    syllables: borders.map((entry) => entry.slice(1)),
    // Without those of an interjection (ng), which nobody means.
    known: new Set(
      [
        ...borders.flatMap((entry) => spellings(entry.slice(1))),
        ...[...otherReadings.values()].flat(),
      ].filter((syllable) => /[aeiouv]/.test(syllable)),
    ),
    readings: new Map(),
  }
  return tables
}

/** How a syllable is typed: ü as v, or as u without its dots. */
const spellings = (syllable: string): string[] =>
  syllable.includes('v') ? [syllable, syllable.replace('v', 'u')] : [syllable]

/** The syllables of a character without tones, its usual one first; [] for what is no Han character. */
export function readingsOf(char: string): readonly string[] {
  if (!HAN.test(char)) return []
  const { readings } = load()
  let found = readings.get(char)
  if (found === undefined) {
    found = [...new Set([...spellings(usualReading(char)), ...(otherReadings.get(char) ?? [])])]
    if (readings.size >= KEPT_MAX) readings.clear()
    readings.set(char, found)
  }
  return found
}

function usualReading(char: string): string {
  const { compare, first, syllables } = load()
  let low = 0
  let high = first.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(first[middle] as string, char) <= 0) low = middle + 1
    else high = middle
  }
  return syllables[Math.max(0, low - 1)] as string
}

/** One entry a character: the usual syllable of a Han character, anything else as it is, in small letters. */
export const pinyinOf = (text: string): string[] =>
  Array.from(text, (char) => readingsOf(char)[0] ?? char.toLowerCase())

/** First letters of `pinyinOf`: 食品安全 -> spaq. */
export const initialsOf = (text: string): string =>
  pinyinOf(text)
    .map((syllable) => syllable.charAt(0))
    .join('')

/**
 * All ways to take letters apart into whole syllables, fewest syllables first (xian -> xian, xi an); an apostrophe or blank is a border.
 * [] where the letters are no pinyin. At most 16 ways.
 */
export function splitSyllables(letters: string): string[][] {
  const text = letters.toLowerCase().replaceAll('ü', 'v').slice(0, LETTERS_MAX)
  if (!/^[a-z][a-z'’ ]*$/.test(text)) return []
  const { known } = load()
  const ways: string[][][] = Array.from({ length: text.length + 1 }, () => [])
  ways[text.length] = [[]]
  for (let i = text.length - 1; i >= 0; i -= 1) {
    const here: string[][] = []
    if (!/[a-z]/.test(text.charAt(i))) {
      ways[i] = ways[i + 1] ?? []
      continue
    }
    // The longest known syllable has six letters: zhuang.
    for (let size = Math.min(6, text.length - i); size > 0; size -= 1) {
      const syllable = text.slice(i, i + size)
      if (known.has(syllable))
        for (const rest of ways[i + size] ?? []) here.push([syllable, ...rest])
    }
    ways[i] = here.sort((a, b) => a.length - b.length).slice(0, SPLITS_MAX)
  }
  return ways[0] ?? []
}

const charsOf = new Map<string, string>()

/** Han characters (U+4E00 to U+9FFF) that can be read as the syllable. The first call reads them all: some 50 ms. */
export function charsReadAs(syllable: string): string {
  if (charsOf.size === 0)
    for (let unit = 0x4e00; unit <= 0x9fff; unit += 1) {
      const char = String.fromCharCode(unit)
      for (const reading of [...spellings(usualReading(char)), ...(otherReadings.get(char) ?? [])])
        charsOf.set(reading, (charsOf.get(reading) ?? '') + char)
    }
  return [...new Set(charsOf.get(syllable))].join('')
}

/** Whether the character can be read as the syllable. */
export const isReadAs = (char: string, syllable: string): boolean =>
  readingsOf(char).includes(syllable)
