/** Languages told apart, and what a page's own claim is worth. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { detectLanguage } from '../../../src/text/language.ts'

/** Sentences of our own. */
const sentences: readonly (readonly [language: string, text: string])[] = [
  ['en', 'This page explains how the crawler waits for its turn and why it is polite.'],
  ['de', 'Diese Seite erklärt, wie der Sammler auf seine Reihe wartet und warum das nicht eilt.'],
  [
    'fr',
    'Cette page explique comment le robot attend son tour et pourquoi il est poli avec les serveurs.',
  ],
  [
    'es',
    'Esta página explica cómo el robot espera su turno y por qué es amable con los servidores.',
  ],
  [
    'it',
    'Questa pagina spiega come il robot aspetta il suo turno e perché è gentile con gli altri.',
  ],
  [
    'pt',
    'Esta página explica como o robô espera a sua vez e por que não tem pressa com os servidores.',
  ],
  ['nl', 'Deze pagina legt uit hoe de robot op zijn beurt wacht en waarom het niet snel is.'],
  ['sv', 'Den här sidan förklarar hur roboten väntar på sin tur och varför det inte är bråttom.'],
  [
    'fi',
    'Tämä sivu kertoo, miten robotti odottaa vuoroaan ja miksi se ei ole nopea mutta on kohtelias.',
  ],
  ['pl', 'Ta strona wyjaśnia, jak robot czeka na swoją kolej i dlaczego nie jest to szybkie.'],
  [
    'cs',
    'Tato stránka vysvětluje, jak robot čeká na řadu a proč se to nemá dělat rychle, ale je to tak.',
  ],
  ['hu', 'Ez az oldal elmondja, hogy a robot miért vár, és miért nem siet, ha nem kell.'],
  [
    'tr',
    'Bu sayfa robotun neden beklediğini ve bunun ne kadar önemli olduğunu anlatan bir yazı için var.',
  ],
  [
    'vi',
    'Trang này giải thích cách máy đợi đến lượt của nó và tại sao điều đó là tốt cho các máy chủ.',
  ],
  [
    'id',
    'Halaman ini menjelaskan cara robot menunggu giliran dan mengapa hal itu tidak cepat untuk server.',
  ],
  ['ru', 'Эта страница объясняет, почему робот ждёт своей очереди и не спешит.'],
  ['uk', 'Ця сторінка пояснює, чому робот чекає своєї черги і нікуди не поспішає.'],
  ['bg', 'Тази страница обяснява защо роботът чака реда си и не бърза за никъде.'],
  ['el', 'Αυτή η σελίδα εξηγεί γιατί το ρομπότ περιμένει τη σειρά του.'],
  ['ar', 'هذه الصفحة تشرح لماذا ينتظر الروبوت دوره ولا يستعجل.'],
  ['fa', 'این صفحه توضیح می‌دهد که چرا ربات منتظر نوبت خود می‌ماند پس چه.'],
  ['he', 'הדף הזה מסביר למה הרובוט מחכה לתורו ולא ממהר.'],
  ['hi', 'यह पृष्ठ बताता है कि रोबोट अपनी बारी का इंतज़ार क्यों करता है।'],
  ['th', 'หน้านี้อธิบายว่าทำไมหุ่นยนต์จึงรอคิวของมัน'],
  ['ko', '이 페이지는 로봇이 왜 차례를 기다리는지 설명합니다.'],
  ['ja', 'このページは、ロボットが順番を待つ理由を説明します。'],
  ['zh', '本页说明爬虫为什么要排队等候，以及它为什么不着急。'],
  ['zh', '本頁說明爬蟲為什麼要排隊等候，以及它為什麼不著急。'],
]

describe('detectLanguage', () => {
  for (const [language, text] of sentences) {
    it(`knows ${language}: ${text.slice(0, 24)}`, () =>
      assert.equal(detectLanguage(text), language))
    it(`does not believe a wrong claim on it: ${language} ${text.slice(0, 12)}`, () => {
      assert.equal(detectLanguage(text, language === 'en' ? 'de' : 'en-US'), language)
    })
  }

  const rest: readonly (readonly [
    what: string,
    text: string,
    declared: string,
    language: string,
  ])[] = [
    ['is und for nothing', '', '', 'und'],
    ['is und for numbers and code', 'x1 = 42; y2 += 0x1f;', '', 'und'],
    ['believes the claim where the text says nothing', 'Contact 2024', 'fr-CA', 'fr'],
    ['takes no nonsense for a claim', 'Contact 2024', '<script>', 'und'],
    ['takes no claim of another alphabet for Latin text', 'Contact 2024', 'zh-CN', 'und'],
    [
      'believes the claim of a language without a profile',
      'La pàgina explica com el robot espera el seu torn i per què és amable amb els servidors de la xarxa',
      'ca',
      'ca',
    ],
    [
      'believes a claim of Kazakh',
      'Бұл бет роботтың неге кезек күтетінін түсіндіреді ы',
      'kk',
      'kk',
    ],
    [
      'calls a Chinese page with code Chinese',
      '安装之后运行 npm start 命令，然后打开 http://localhost:8080 就可以看到搜索页面，请按说明继续操作。',
      'en',
      'zh',
    ],
    ['calls a Japanese title in kanji Japanese where it is claimed', '東京大学案内', 'ja', 'ja'],
    [
      'calls Chinese with one Japanese name Chinese',
      '我们昨天去了一家叫さくら的餐厅，那里的菜非常好吃，价格也很便宜，服务员态度很好，下次还想再去，推荐给大家一起去试试看。',
      '',
      'zh',
    ],
  ]
  for (const [what, text, declared, language] of rest) {
    it(what, () => assert.equal(detectLanguage(text, declared), language))
  }

  it('looks at the middle where the head is in another language', () => {
    const german = 'Diese Seite erklärt, wie der Sammler auf seine Reihe wartet. '
    const text = `${'Menu Login '.repeat(20)}\n${german.repeat(80)}`
    assert.equal(detectLanguage(text), 'de')
  })

  it('gives a short lower-case tag for any input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, declared) => {
        assert.match(detectLanguage(text, declared), /^[a-z]{2,3}$/)
      }),
    )
  })
})
