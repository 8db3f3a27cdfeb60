/** Charset detection: the chain and its proofs on made-up bytes. The public suites are asked by test/unit/public-suites.test.ts. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { decodeText } from '../../../src/crawl/charset.ts'
import { encodeText } from './encode-text.ts'

const chinese =
  '图书馆每天早上八点开门，读者可以在三楼阅览室看报纸和杂志，也可以借走自己喜欢的书。为了保护图书，请不要在馆内吃东西。'
const traditional =
  '圖書館每天早上八點開門，讀者可以在三樓閱覽室看報紙和雜誌，也可以借走自己喜歡的書。為了保護圖書，請不要在館內吃東西。'
const japanese =
  '図書館は毎朝八時に開きます。三階の閲覧室で新聞や雑誌を読むことができます。好きな本を借りることもできます。'
const korean =
  '도서관은 매일 아침 여덟 시에 문을 엽니다. 삼층 열람실에서 신문과 잡지를 읽을 수 있고 책을 빌릴 수도 있습니다.'
const german =
  'Die Bücherei öffnet täglich um acht Uhr. Überall dürfen Gäste Bücher für zu Hause ausleihen, außer an Feiertagen.'
const russian =
  'Библиотека открывается каждый день в восемь часов утра, читатели могут брать книги домой.'

const page = (head: string, text: string) =>
  `<html><head>${head}<title>t</title></head><body><p>${text}</p></body></html>`
const utf8 = (text: string) => new TextEncoder().encode(text)
const concat = (...parts: (Uint8Array | number[])[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => Uint8Array.from(part))))

describe('decodeText', () => {
  const cases: [
    name: string,
    bytes: Uint8Array,
    contentType: string,
    charset: string,
    text: string,
  ][] = [
    [
      'a byte order mark decides, against the header too, and is not part of the text',
      concat([0xef, 0xbb, 0xbf], utf8(chinese)),
      'text/html; charset=gbk',
      'utf-8',
      chinese,
    ],
    [
      'the header is used',
      encodeText(page('', traditional), 'big5'),
      'text/html; charset=Big5',
      'big5',
      traditional,
    ],
    [
      'the header goes before the meta',
      encodeText(page('<meta charset="iso-8859-2">', russian), 'windows-1251'),
      'text/html; charset=windows-1251',
      'windows-1251',
      russian,
    ],
    [
      'gb2312 means gb18030',
      encodeText(page('<meta charset="gb2312">', chinese + '朱镕基 啰嗦 繁體'), 'gb18030'),
      '',
      'gb18030',
      '朱镕基 啰嗦 繁體',
    ],
    [
      'labels and attribute names in any case',
      encodeText(page('<META CHARSET="GbK">', chinese), 'gb18030'),
      '',
      'gb18030',
      chinese,
    ],
    [
      'a misspelt declaration is confirmed by the bytes',
      encodeText(
        page('<meta httpequiv="ContentType" content="text/html; charset=gbk" />', chinese),
        'gb18030',
      ),
      '',
      'gb18030',
      chinese,
    ],
    [
      'of two declarations the first that says something',
      encodeText(page('<meta charset=""><meta charset=gb2312>', chinese), 'gb18030'),
      '',
      'gb18030',
      chinese,
    ],
    [
      'a declaration behind the first 1,024 bytes',
      encodeText(page(`<!--${'x'.repeat(2_000)}--><meta charset="euc-kr">`, korean), 'euc-kr'),
      '',
      'euc-kr',
      korean,
    ],
    [
      'an unknown label is ignored',
      encodeText(page('', chinese), 'gb18030'),
      'text/html; charset=x-cp20936',
      'gb18030',
      chinese,
    ],
    [
      'a header that lies about Chinese bytes is found out',
      encodeText(page('', chinese), 'gb18030'),
      'text/html; charset=utf-8',
      'gb18030',
      chinese,
    ],
    [
      'the default label of a server is found out',
      encodeText(page('', chinese), 'gb18030'),
      'text/html; charset=iso-8859-1',
      'gb18030',
      chinese,
    ],
    [
      'UTF-8 under a Chinese label is UTF-8',
      utf8(page('<meta charset="gb2312">', chinese)),
      '',
      'utf-8',
      chinese,
    ],
    [
      'UTF-8 under a Latin label is UTF-8',
      utf8(page('', chinese)),
      'text/html; charset=ISO-8859-1',
      'utf-8',
      chinese,
    ],
    [
      'one broken character does not spoil the declared charset',
      concat(utf8(page('<meta charset="utf-8">', chinese + chinese)), [0xe4, 0xb8], utf8(' end')),
      '',
      'utf-8',
      chinese,
    ],
    [
      'a character cut by the end is no damage',
      concat(utf8(chinese), [0xe4, 0xb8]),
      'text/html; charset=utf-8',
      'utf-8',
      chinese,
    ],
    [
      'a script that writes a declaration is no match for a real one',
      encodeText(
        page('<script>var m = "<meta charset=big5>"</script><meta charset="gb2312">', chinese),
        'gb18030',
      ),
      '',
      'gb18030',
      chinese,
    ],
    [
      'broken characters within UTF-8 that nobody declared',
      concat(utf8(page('', chinese)), [0xe4, 0xb8, 0x20, 0xff, 0x61], utf8(chinese)),
      '',
      'utf-8',
      chinese,
    ],
    [
      'a broken character within UTF-8 under a Chinese label',
      concat(utf8(page('<meta charset="gbk">', chinese)), [0xe4, 0xb8, 0x20], utf8(chinese)),
      '',
      'utf-8',
      chinese,
    ],
    ['UTF-16 without a mark', encodeText(page('', german), 'utf-16le'), '', 'utf-16le', german],
    [
      'UTF-16 declared in a meta is a mistake',
      utf8(page('<meta charset="utf-16">', german)),
      '',
      'utf-8',
      german,
    ],
    ['plain ASCII', utf8(page('', 'hello')), '', 'utf-8', 'hello'],
    ['nothing', new Uint8Array(), 'text/html', 'utf-8', ''],
  ]
  for (const [name, bytes, contentType, charset, text] of cases)
    it(name, () => {
      const decoded = decodeText(bytes, contentType)
      assert.equal(decoded.charset, charset)
      assert.ok(decoded.text.includes(text), decoded.text)
      assert.equal(decoded.certain, true)
    })

  for (const [charset, text] of Object.entries({
    'utf-8': chinese,
    gb18030: chinese,
    big5: traditional,
    shift_jis: japanese,
    'euc-jp': japanese,
    'euc-kr': korean,
    'windows-1252': german,
    'windows-1251': russian,
    'koi8-u': russian,
  }))
    it(`guesses ${charset} where nothing is declared`, () => {
      const decoded = decodeText(encodeText(page('', text), charset), 'text/html')
      assert.equal(decoded.charset, charset)
      assert.ok(decoded.text.includes(text))
    })

  it('keeps a short declared text with damage rather than guessing', () => {
    const decoded = decodeText(
      concat(utf8('PREFIX'), [0xe3, 0xab], utf8('SUFFIX')),
      'text/html; charset=utf-8',
    )
    assert.deepEqual(decoded, { text: 'PREFIX\uFFFDSUFFIX', charset: 'utf-8', certain: false })
  })

  it('is lossless for any text in any Chinese or Unicode charset that is declared', () => {
    const charsets = fc.constantFrom('utf-8', 'gb18030', 'big5', 'utf-16le')
    const words = fc.array(fc.constantFrom('图', '書', '館', '開', '門', 'a', ' ', '三', '樓'), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(charsets, words, (charset, parts) => {
        const text = parts.join('').replaceAll('图', charset === 'big5' ? '圖' : '图')
        const decoded = decodeText(encodeText(text, charset), `text/html; charset=${charset}`)
        assert.equal(decoded.text, text)
      }),
      { numRuns: 200 },
    )
  })

  it('takes any bytes under any header', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 3_000 }),
        fc.string({ maxLength: 60 }),
        (bytes, header) => {
          const { text } = decodeText(bytes, header)
          assert.ok(text.length <= bytes.length * 3)
        },
      ),
      { numRuns: 200 },
    )
  })

  const hostile: [string, string][] = [
    ['<meta', '<meta '.repeat(200_000)],
    ['< meta', '< meta charset '.repeat(70_000)],
    ['<!--', '<!--'.repeat(250_000)],
    ['quotes', `<meta ${'a="'.repeat(300_000)}`],
    ['blanks', `<meta${' '.repeat(1_000_000)}`],
    ['slashes', `<meta ${'/'.repeat(1_000_000)}`],
  ]
  for (const [name, text] of hostile)
    it(`reads a megabyte of ${name} in linear time`, () => {
      const start = process.cpuUsage()
      decodeText(utf8(text), 'a'.repeat(100_000))
      const { user, system } = process.cpuUsage(start)
      assert.ok((user + system) / 1_000 < 500, `${(user + system) / 1_000} ms`)
    })
})
