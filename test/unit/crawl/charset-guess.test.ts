/** Undeclared bytes: one sentence a language, in every charset it was written in, must come out as the same text. And what it costs. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { guessCharset } from '../../../src/crawl/charset-guess.ts'
import { singleByteCharsets, type Language } from '../../../src/crawl/charset-languages.ts'
import { decodeAs, ownCharset } from '../../../src/crawl/charset-tables.ts'
import { withQueryIn } from '../../../src/crawl/link-charset.ts'
import { encodeText } from './encode-text.ts'

// oxfmt-ignore
const sentences: Partial<Record<Language, string>> = {
  de: 'Größere Änderungen müssen wir übermorgen früh mit den Gästen besprechen, außerdem fehlen noch fünf Stühle.',
  fr: "L'été dernier, les élèves ont visité le château près de la forêt, où ils ont goûté une crème brûlée.",
  es: 'El niño corrió detrás del camión, según contó su tía, y después se durmió en un rincón del jardín.',
  pt: 'A situação da educação não é fácil: há três salas e os alunos já não têm cadeiras suficientes.',
  pl: 'Wczoraj wieczorem padał śnieg, więc dzieci zostały w domu i piekły ciasto, później śpiewały pieśni.',
  cs: 'Příští týden pojedeme vlakem do hor, protože děti mají prázdniny a těší se na čerstvý sníh.',
  hu: 'A kertben már virágzik az almafa, és a szomszéd kisfiú minden délután ott ül könyvével a fűben.',
  ro: 'În fiecare dimineață bătrânul își plimbă câinele prin parcul din fața școlii și citește știrile.',
  tr: 'Çocuklar akşamları bahçede oynarken büyükleri çay içiyor, kışın ise sobanın yanında oturuyorlar.',
  lt: 'Vakare šeima susėda prie stalo ir kalbasi apie šiandienos darbus, o močiutė pasakoja žiemos istorijas.',
  lv: 'Vakarā ģimene sēž pie galda un runā par dienas darbiem, vecmāmiņa stāsta par ziemu laukos.',
  mt: 'It-tfal marru l-baħar ma’ ħuhom iż-żgħir, imbagħad reġgħu lura d-dar għax kienet għajjiena.'.replace('’', "'"),
  ru: 'Вечером мы долго гуляли по набережной, смотрели на корабли и говорили о будущем лете.',
  uk: 'Увечері ми довго гуляли набережною, дивилися на кораблі й говорили про їхнє майбутнє.',
  bg: 'Вечерта дълго се разхождахме край морето, гледахме корабите и говорехме за лятото.',
  sr: 'Увече смо дуго шетали поред реке, гледали бродове и причали о лету које долази, њихова деца су спавала.',
  el: 'Το βράδυ περπατήσαμε πολλή ώρα στην παραλία και μιλήσαμε για το καλοκαίρι που έρχεται.',
  he: 'בערב הלכנו זמן רב לאורך הים והסתכלנו על האוניות ודיברנו על הקיץ הבא',
  ar: 'في المساء مشينا طويلا على الشاطئ ونظرنا إلى السفن وتحدثنا عن الصيف القادم',
  th: 'ตอนเย็นเราเดินเล่นริมทะเลเป็นเวลานานและพูดคุยเรื่องฤดูร้อนที่จะมาถึง',
}

/** Our own tables are only decoders: turned round here. */
function bytesIn(text: string, charset: string): Uint8Array | null {
  try {
    if (ownCharset(charset) === null) return encodeText(text, charset)
    const all = decodeAs(
      Uint8Array.from({ length: 256 }, (_, i) => i),
      charset,
    )
    const bytes = Array.from(text, (sign) => all.indexOf(sign))
    return bytes.includes(-1) ? null : Uint8Array.from(bytes)
  } catch {
    return null // the charset cannot write this sentence
  }
}

describe('guessCharset', () => {
  for (const { charset, languages } of singleByteCharsets) {
    for (const language of languages) {
      const text = sentences[language]
      const bytes = text === undefined ? null : bytesIn(text, charset)
      if (text === undefined || bytes === null) continue
      it(`reads ${language} in ${charset}`, () => {
        const guess = guessCharset(bytes)
        assert.equal(decodeAs(bytes, guess.charset), text, guess.charset)
        assert.equal(guess.confident, true)
      })
    }
  }

  const wide = 'Plain words, and a few beyond: é, 中'
  it('knows UTF-32 by its zeros, in either order', () => {
    const little = new Uint8Array(Uint32Array.from(wide, (sign) => sign.codePointAt(0) ?? 0).buffer)
    assert.equal(guessCharset(little).charset, 'utf-32le')
    assert.equal(decodeAs(little, 'utf-32le'), wide)
    const big = Uint8Array.from({ length: little.length }, (_, i) => little[i ^ 3] ?? 0)
    assert.equal(guessCharset(big).charset, 'utf-32be')
    assert.equal(decodeAs(big, 'utf-32be'), wide)
  })

  it('takes damage of UTF-32 for damage', () => {
    assert.equal(
      decodeAs(Uint8Array.of(0, 0, 0, 65, 0, 0x11, 0, 0, 9), 'utf-32be'),
      'A\ufffd\ufffd',
    )
  })

  const shifted: readonly (readonly [charset: string, mail: string, text: string])[] = [
    ['iso-2022-kr', '\u001b$)C\u000e0!\u000f a', '가 a'],
    ['iso-2022-cn', '\u001b$)A\u000eVPND\u000f a', '中文 a'],
  ]
  for (const [charset, mail, text] of shifted) {
    it(`reads ${charset}`, () => {
      const bytes = new TextEncoder().encode(mail)
      assert.equal(guessCharset(bytes).charset, charset)
      assert.equal(decodeAs(bytes, charset), text)
    })
  }

  it('takes less than 10 ms for the largest sample of any script', () => {
    for (const [language, charset] of [
      ['ru', 'koi8-u'],
      ['fr', 'windows-1252'],
    ] as const) {
      const bytes = encodeText((sentences[language] ?? '').repeat(700), charset)
      guessCharset(bytes)
      const start = process.cpuUsage()
      for (let i = 0; i < 10; i++) guessCharset(bytes)
      const { user, system } = process.cpuUsage(start)
      assert.ok((user + system) / 10_000 < 10, `${(user + system) / 10_000} ms`)
    }
  })
})

describe('the query of a link', () => {
  const links: readonly (readonly [charset: string, href: string, sent: string])[] = [
    ['gb18030', '/s?q=中文&p=1#中', '/s?q=%D6%D0%CE%C4&p=1#中'],
    ['big5', '?q=數學', '?q=%BC%C6%BE%C7'],
    ['shift_jis', '?q=表', '?q=%95\\'],
    ['euc-kr', '?q=가', '?q=%B0%A1'],
    ['windows-1251', '/я?q=я', '/я?q=%FF'],
    ['windows-1252', '?q=中', '?q=%26%2320013%3B'],
    ['gb18030', '?q=%D6%D0', '?q=%D6%D0'],
    ['gb18030', '/中文', '/中文'],
    ['gb18030', '/a#?中', '/a#?中'],
    ['utf-8', '?q=中', '?q=中'],
    ['utf-16le', '?q=中', '?q=中'],
    ['ibm850', '?q=é', '?q=é'],
  ]
  for (const [charset, href, sent] of links) {
    it(`${href} on a page in ${charset} is ${sent}`, () =>
      assert.equal(withQueryIn(charset, href), sent))
  }
})
