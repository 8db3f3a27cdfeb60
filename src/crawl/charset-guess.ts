/** Which charset do bytes have that nobody declared? By the frequent characters of the languages written in each. Decides nothing else. */

/** Bytes looked at: enough for any language, and a bound on the time. */
const sampleBytes = 65_536
/** A guess is confident from this share of frequent characters on ... */
const confidentScore = 0.25
/** ... and this many characters beyond ASCII. */
const confidentChars = 6

/**
 * Characters that running text is full of. A wrong charset turns them into rare ones, so the share of frequent characters
 * tells the right one: about a half in Chinese, two thirds in alphabets, against one in thirty for wrong decodings.
 */
const han =
  '的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半候七必城父强步完革深区即求品士转量空甚众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始版双历越史商千片容研像找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟谁校读志飞观争究包组造落视济喜离虽坏兴技術說們這來國個時會過為後對無發點學從實還經進見動長現樣將與問話業間種聲關開機電話東車馬師書場體處總門員華報張難數應親務計題認論義術結連遠資隊帶條變聯權傳達辦運強區轉眾輕語滿識極錢黨設雙歷廣議際單據導網專誰讀觀爭組視濟離雖壞興\uff0c\u3002\u3001\uff1a\uff1b\u201c\u201d\uff08\uff09\u300a\u300b\uff01\uff1f\u300c\u300d'
const kana =
  'のにはをたがでてとしれさいるなもかすらりこうくっまよきつけんどじだせみめえおあやそわばれちろびぐげごひほべふルンスイトラリアクシドレタロカーセコムテマデサフプバパニナミメキグズブボソジ\u3001\u3002\u30fb\u30fc\u300c\u300d'
const hangul =
  '이다는에의가을로하고지한를도은사기리인어서시대자해아들과있정나수그부일면보장제여전게러라만구스조상원국것으주연니동안공신비유간성오소우위거무문실중방경미모세학분적행치차민회산개물마말내용화생양선관재계예되할했었될습합와지'
const cyrillic = 'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэіїєґ'
const latin = 'éèêëàâäáãåçñöôòóõøüûùúíìîïßæœÿÄÖÜÉÀÅÆØÑÇÁÍÓÚÊÔ’‘“”–—…•·«»°©®™€£§¡¿ ºª´½¼¾²³±×'

/** `isLatin`: its letters beyond ASCII stand between ASCII ones; those of every other script stand together. */
type Candidate = {
  charset: string
  frequent: ReadonlySet<string>
  weight: number
  isLatin: boolean
}

const candidate = (charset: string, frequent: string, weight = 1): Candidate => ({
  charset,
  frequent: new Set(frequent),
  weight,
  isLatin: /^windows-125[02]$/.test(charset),
})

/** Alphabets reach higher shares than ideographs by nature: weights make the scores comparable. Earlier wins a tie. */
const candidates: readonly Candidate[] = [
  candidate('gb18030', han),
  candidate('big5', han),
  candidate('shift_jis', kana + han),
  candidate('euc-jp', kana + han),
  candidate('euc-kr', hangul),
  candidate('windows-1252', latin, 0.7),
  candidate('windows-1251', cyrillic, 0.8),
  candidate('koi8-u', cyrillic, 0.8),
  candidate('ibm866', cyrillic, 0.79),
  candidate('iso-8859-5', cyrillic, 0.79),
  candidate('x-mac-cyrillic', cyrillic, 0.78),
  candidate('windows-1253', 'αειουηντσρκπλμςθόάίέήώύγδβχφξ', 0.8),
  candidate('windows-1255', 'יוהלאתרשמבןםקעדנפצחכגזט', 0.8),
  candidate('windows-1256', 'اليمنرتبهدعوسفقكحجشصخةىضطغث', 0.8),
  candidate('windows-874', 'านรอกเงมยลวดทสตะปบคหแจพชขใไโผิีึืุู่้็์ั', 0.8),
  candidate('windows-1250', 'ąćęłńóśźżáčďéěíňóřšťúůýžőűăâîşţ', 0.65),
]

/** The most plausible charset of undeclared bytes, and whether it is more than a plausible one. Total; linear. */
export function guessCharset(bytes: Uint8Array): { charset: string; confident: boolean } {
  const wide = utf16ByZeros(bytes)
  if (wide !== null) return { charset: wide, confident: true }
  const sample = bytes.subarray(0, sampleBytes)
  if (isUtf8(bytes)) return guessAscii(sample)
  let best = { charset: 'windows-1252', score: 0, chars: 0 }
  for (const one of candidates) {
    const { share, chars } = frequentShare(new TextDecoder(one.charset).decode(sample), one)
    const score = share * one.weight
    if (score > best.score) best = { charset: one.charset, score, chars }
  }
  const confident = best.score >= confidentScore && best.chars >= confidentChars
  return { charset: best.charset, confident }
}

/** UTF-16 without a mark shows by its zero bytes, which no other charset has; null where there are too few. */
export function utf16ByZeros(bytes: Uint8Array): string | null {
  const length = Math.min(bytes.length & ~1, 1_024)
  let [even, odd] = [0, 0]
  for (let i = 0; i < length; i += 2) {
    if (bytes[i] === 0) even++
    if (bytes[i + 1] === 0) odd++
  }
  const least = length * 0.15
  if (length < 4 || Math.max(even, odd) <= least || Math.min(even, odd) > least / 4) return null
  return even > odd ? 'utf-16be' : 'utf-16le'
}

/** Seven bits are UTF-8, but for the Japanese mail charset with its escapes. */
function guessAscii(sample: Uint8Array): { charset: string; confident: boolean } {
  const text = Buffer.from(sample.buffer, sample.byteOffset, sample.length).toString('latin1')
  const japanese = text.includes('\u001b$B') || text.includes('\u001b$@')
  return { charset: japanese ? 'iso-2022-jp' : 'utf-8', confident: true }
}

/** Valid to the last byte, but for a character that the end cuts. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** Which share of the characters beyond ASCII is frequent; each damaged or private one counts against it three times. */
function frequentShare(
  text: string,
  { frequent, isLatin }: Candidate,
): { share: number; chars: number } {
  let [chars, hits, damaged] = [0, 0, 0]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80) continue
    chars++
    const stands = isLatin || text.charCodeAt(i - 1) >= 0x80 || text.charCodeAt(i + 1) >= 0x80
    if (stands && frequent.has(text.charAt(i))) hits++
    else if (code === 0xfffd || code < 0xa0 || (code >= 0xe000 && code < 0xf900)) damaged++
  }
  return { share: chars === 0 ? 0 : (hits - 3 * damaged) / chars, chars }
}
