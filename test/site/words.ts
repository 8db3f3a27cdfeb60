/** Sentences for the test web, made from a seed and small vocabularies of our own in English, simplified and traditional Chinese. No third-party text. */

export type Random = () => number
export type Script = 'en' | 'zh-Hans' | 'zh-Hant'

/** Mulberry32: the same seed gives the same numbers in [0, 1) everywhere. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function pick<T>(random: Random, list: readonly T[]): T {
  const value = list[Math.floor(random() * list.length)]
  if (value === undefined) throw new RangeError('nothing to pick from')
  return value
}

const english = {
  noun: `kettle lantern harbour meadow ledger violin compass orchard bridge tailor stove blanket ferry
    pigeon ladder basket mirror garden cellar whistle anchor saddle pillow candle bucket hammer
    teapot chimney carpet drawer walnut barrel feather copper marble ribbon thunder tunnel willow
    wagon bakery clock fountain glacier island jacket kitchen library market needle ocean pepper
    quilt river spoon tower umbrella valley window yarn`.split(/\s+/),
  verb: `carries paints repairs follows measures borrows counts hides lifts guards polishes remembers
    crosses answers weighs gathers opens draws feeds chases sells covers mends watches trades
    washes builds warms visits praises`.split(/\s+/),
  adjective: `quiet wooden early crooked golden hollow narrow gentle dusty bright patient salty
    velvet rusty distant hungry smooth heavy silver clever damp eager foggy green humble ivory
    jolly kind lucky mellow`.split(/\s+/),
  adverb: `slowly often seldom again gladly twice tonight nearby together outside upstairs abroad
    carefully suddenly always quietly`.split(/\s+/),
}

/** Each entry: simplified, then traditional. */
const chinese = {
  noun: `茶壶茶壺 灯笼燈籠 码头碼頭 草地草地 账本賬本 提琴提琴 果园果園 桥梁橋樑 裁缝裁縫 炉灶爐灶 毛毯毛毯 渡船渡船 鸽子鴿子 梯子梯子
    篮子籃子 镜子鏡子 花园花園 地窖地窖 口哨口哨 船锚船錨 马鞍馬鞍 枕头枕頭 蜡烛蠟燭 水桶水桶 锤子錘子 烟囱煙囪 地毯地毯 抽屉抽屜 核桃核桃
    木桶木桶 羽毛羽毛 丝带絲帶 隧道隧道 柳树柳樹 马车馬車 面包麵包 钟表鐘錶 喷泉噴泉 冰川冰川 岛屿島嶼 外套外套 厨房廚房 图书圖書 市场市場
    海洋海洋 胡椒胡椒 棉被棉被 河流河流 汤匙湯匙 高塔高塔 雨伞雨傘 山谷山谷 窗户窗戶 毛线毛線`.split(
    /\s+/,
  ),
  verb: `搬运搬運 描绘描繪 修理修理 跟随跟隨 测量測量 借用借用 清点清點 隐藏隱藏 举起舉起 守护守護 擦亮擦亮 记住記住 穿过穿過 回答回答
    称量稱量 收集收集 打开打開 喂养餵養 追赶追趕 出售出售 覆盖覆蓋 缝补縫補 观看觀看 交换交換 清洗清洗 建造建造 温暖溫暖 拜访拜訪`.split(
    /\s+/,
  ),
  adjective:
    `安静安靜 木制木製 早到早到 弯曲彎曲 金色金色 空心空心 狭窄狹窄 温和溫和 多尘多塵 明亮明亮 耐心耐心 柔软柔軟 生锈生鏽 遥远遙遠
    饥饿飢餓 光滑光滑 沉重沉重 银色銀色 聪明聰明 潮湿潮濕 热心熱心 多雾多霧 绿色綠色 谦虚謙虛 幸运幸運`.split(
      /\s+/,
    ),
  adverb:
    `慢慢慢慢 常常常常 很少很少 再次再次 高兴高興 今晚今晚 附近附近 一起一起 外面外面 楼上樓上 仔细仔細 忽然忽然 总是總是`.split(
      /\s+/,
    ),
}

/** Marks are numbers written with these twenty signs. No other word of the vocabulary holds a Chinese one. */
const syllables = 'ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zu'.split(' ')
const signs = {
  'zh-Hans': Array.from('龙凤鹤鸥莺鹰鲸鲤枣槟莲兰芦萝栀桦榈缎绢锦'),
  'zh-Hant': Array.from('龍鳳鶴鷗鶯鷹鯨鯉棗檳蓮蘭蘆蘿梔樺櫚緞絹錦'),
}

/** A word that stands on one page only: `index` 0..7999. Letters or ideographs alone, so that no tokenizer cuts it oddly. */
export function markOf(script: Script, index: number): string {
  if (!Number.isInteger(index) || index < 0 || index >= 8000) throw new RangeError('index 0..7999')
  // 7919 is coprime to both sizes: neighbours look unlike each other, none meet.
  const digits = (size: number, places: number): number[] => {
    let rest = (index * 7919 + 1234) % size
    return Array.from({ length: places }, () => {
      const digit = rest % 20
      rest = (rest - digit) / 20
      return digit
    })
  }
  if (script === 'en')
    return `v${digits(8000, 3).reduce((text, digit) => text + syllables[digit], '')}x`
  return digits(160_000, 4).reduce((text, digit) => text + signs[script][digit], '')
}

const half = (entry: string, script: Script): string => {
  const middle = entry.length / 2
  return script === 'zh-Hant' ? entry.slice(middle) : entry.slice(0, middle)
}

/** One sentence of about ten words, ending with its full stop. */
export function sentence(random: Random, script: Script): string {
  const word = (kind: keyof typeof english): string =>
    script === 'en' ? pick(random, english[kind]) : half(pick(random, chinese[kind]), script)
  const n1 = word('noun')
  const n2 = word('noun')
  const n3 = word('noun')
  const [verb, a1, a2, adverb] = [
    word('verb'),
    word('adjective'),
    word('adjective'),
    word('adverb'),
  ]
  const kind = Math.floor(random() * 3)
  if (script === 'en') {
    if (kind === 0) return `The ${a1} ${n1} ${adverb} ${verb} the ${a2} ${n2} near the ${n3}.`
    if (kind === 1) return `Every ${n1} of the ${a1} ${n2} ${verb} a ${a2} ${n3} ${adverb}.`
    return `Where the ${n1} ${verb} the ${n2}, ${a1} ${n3} and ${a2} neighbours meet ${adverb}.`
  }
  if (kind === 0) return `${a1}的${n1}${adverb}${verb}${n3}旁${a2}的${n2}。`
  if (kind === 1)
    return `在${n1}里，${a1}的${n2}${verb}${a2}的${n3}，${adverb}。`.replace(
      '里',
      script === 'zh-Hant' ? '裡' : '里',
    )
  return `${n1}${verb}${n2}，${a1}的${n3}${adverb}是${a2}的。`
}

export const sentences = (random: Random, script: Script, count: number): string[] =>
  Array.from({ length: count }, () => sentence(random, script))

/** A short title without a full stop. */
export function titleOf(random: Random, script: Script): string {
  const pool = script === 'en' ? english : chinese
  const adjective = pick(random, pool.adjective)
  const noun = pick(random, pool.noun)
  return script === 'en'
    ? `The ${adjective} ${noun}`
    : `${half(adjective, script)}的${half(noun, script)}`
}
