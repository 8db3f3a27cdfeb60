/** Elements open and close as htmlparser2's own Parser has it, on soups of tags. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Parser } from 'htmlparser2'
import { type HtmlHandler, readHtml, tagNames } from '../../../src/crawl/html-events.ts'
import { createNameTable } from '../../../src/crawl/name-table.ts'
import { mix32 } from '../../../src/lib/hash.ts'

const attributeNames = createNameTable(['class', 'href', 'hidden'])

/** One string an event; neighbouring texts are one. */
function eventsOf(html: string, depthMax = 512): string[] {
  const events: string[] = []
  const addText = (text: string): void => {
    const last = events.at(-1)
    if (last?.startsWith('"')) events[events.length - 1] = last + text
    else if (text !== '') events.push(`"${text}`)
  }
  const handler: HtmlHandler = {
    open(name, id) {
      assert.equal(tagNames[id] ?? name, name)
      events.push(`<${name.toLowerCase()}>`)
    },
    close: () => void events.push('</>'),
    text: (start, end) => addText(html.slice(start, end)),
    character: (codePoint) => addText(String.fromCodePoint(codePoint)),
    wants: (name) => name !== 'hidden',
    attribute: (name, value) => void events.push(`${name}=${value}`),
  }
  readHtml(html, handler, attributeNames, depthMax)
  return events
}

function expectedOf(html: string): string[] {
  const events: string[] = []
  const parser = new Parser({
    onopentagname: (name) => void events.push(`<${name.toLowerCase()}>`),
    onclosetag: () => void events.push('</>'),
    onattribute(name, value) {
      if (name === 'class' || name === 'href') events.push(`${name}=${value}`)
    },
    ontext(text) {
      const last = events.at(-1)
      if (last?.startsWith('"')) events[events.length - 1] = last + text
      else if (text !== '') events.push(`"${text}`)
    },
  })
  parser.write(html)
  parser.end()
  return events
}

const cases: readonly string[] = [
  '<p>a<p>b</p></p>c</br>d<br/>',
  '<form><form class=x></form>a</form>',
  '<ul><li>a<li>b<ul><li>c</ul></ul>',
  '<table><tr><td>a<td>b<tr><th>c<tbody><tr><td>d</table>',
  '<svg><path/><foreignObject><p>a<image></foreignObject></svg><image>',
  '<svg><![CDATA[a<b]]></svg><![CDATA[c]]>d',
  '<math><mi>a<p>b</mi><br/></math>',
  '<IMG CLASS="a&amp;b" hidden href=x&#x41;y>&nbsp;&notit;',
  '<x-y><X-Z></x-y></x-z><li\u212A><lin\u212A href=a>',
  '<script>a</p><b></script><title>&lt;b></title><textarea><p></textarea>',
  '<a href=1><a href=2>x</a></a></b>',
  '<!doctype html><!-- a --><?php b ?></>< a',
  '&ampx&notit;&NotEqualTilde;&&lt;&lt&#0;&#x110000;&#128;&#;&unknown;&am',
  '<a class="&ampx&copy=1&copy;&not it;&&quot;&NotEqualTilde;" href=\'?a&lt=b&lt\'>',
  'a<&amp;b<&lt;<p class="<&lt;">c<&unknown;',
  '<svg><style>&lt;</style></svg><style>&lt;</style><style/>&gt;</style>&gt;',
  '<iframe>&lt;</iframe><xmp>&lt;<b>&gt;</xmp><noembed>&lt;</noembed><noframes>&lt;</noframes>&lt;',
  '<textarea>&lt;</textarea><noscript>&lt;</noscript><plaintext>&lt;</plaintext>&lt;',
]

const parts: readonly string[] = [
  ...'p a b li ul form table tr td th thead tfoot rt rp optgroup tbody select option h1 div pre svg math mi foreignObject title x-y br img image button dd dt rt body script style textarea xmp'
    .split(' ')
    .flatMap((name) => [`<${name}>`, `</${name}>`, `<${name.toUpperCase()} class="c&lt;d"/>`]),
  'text',
  ' ',
  '&amp;',
  '&#20013;',
  '&notit;',
  '&NotEqualTilde;',
  '&lt',
  '&',
  '=',
  '<a href="?a&copy=1&amp;b&reg" class=\'&lt;',
  '<![CDATA[x]]>',
  '<!--y-->',
  '<',
  '>',
  '<a href=u',
  "'",
]

describe('readHtml', () => {
  for (const html of cases)
    it(`reads ${html} as the Parser does`, () => assert.deepEqual(eventsOf(html), expectedOf(html)))

  it('reads any soup of tags as the Parser does', () => {
    for (let seed = 1; seed <= 3_000; seed++) {
      let state = seed
      const next = (): number => (state = mix32(state + 0x9e3779b9))
      const html = Array.from({ length: 5 + (next() % 40) }, () => parts[next() % parts.length])
      // In a title that tokenizer reads no reference behind '<'; the standard knows no such rule.
      const text = html.join('').replaceAll('<&', '< &')
      assert.deepEqual(eventsOf(text), expectedOf(text), `seed ${seed}: ${text}`)
    }
  })

  it('reads references in a title wherever they stand', () => {
    assert.deepEqual(eventsOf('<title><&amp;&lt;</title>'), ['<title>', '"<&<', '</>'])
  })

  it('lets the outermost elements go beyond the depth it may hold', () => {
    assert.deepEqual(eventsOf('<div><b><i></div>x</i>', 2), [
      '<div>',
      '<b>',
      '<i>',
      '"x',
      '</>',
      '</>',
    ])
  })
})
