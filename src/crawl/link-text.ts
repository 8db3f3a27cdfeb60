/** What a link calls the page that it leads to: its text, where that tells something. Pure. */
import { collapseBlanks } from './blocks.ts'
import { copyOf } from './kept-text.ts'

/** Longer ones are teasers: their beginning is what they are called. */
const linkTextUnitsMax = 60
/** Of one page: what comes later is a list of everything. */
export const linkTextsMax = 1_000

/** Says where a link leads to from here, or that it is one; in lower case, without marks around. Words that a host puts on many links are found out by counting. */
const idle: ReadonlySet<string> = new Set(
  [
    'next|prev|previous|up|back|top|home|index|main|contents|table of contents|toc|here|click|click here|this|this page|this link|link|more',
    'read more|learn more|see more|show more|view more|continue|continue reading|details|view|show|download|print|share|edit|reply|comment',
    'comments|permalink|source|first|last|newer|older|next page|previous page|go|skip|skip to content|skip to main content|menu|close',
    'search|login|log in|sign in|sign up|register|logout|help|about|about us|contact|contact us|home page|homepage|website|url|jump to',
    '下一页|上一页|下一章|上一章|下一节|上一节|下一篇|上一篇|首页|主页|尾页|末页|返回|返回首页|返回顶部|顶部|上一级|目录|索引|更多|查看更多|阅读更多|详情',
    '查看详情|查看|点击|点击这里|点击此处|这里|此处|链接|下载|打印|分享|评论|回复|登录|注册|搜索|帮助|关于|关于我们|联系我们|全文|阅读全文|继续阅读|原文|后退|前进|后一页|前一页',
    '下一頁|上一頁|下一節|上一節|首頁|主頁|返回首頁|目錄|閱讀更多|詳情|點擊這裡|這裡|連結|下載|列印|登入|註冊|搜尋|幫助|關於|關於我們|聯絡我們',
    'weiter|zurück|hier|mehr|startseite|inhalt|suivant|précédent|accueil|ici|siguiente|anterior|inicio|aquí|далее|назад|здесь|次へ|前へ|ホーム|目次',
  ].flatMap((list) => list.split('|')),
)

const aroundIt = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu
const letter = /\p{L}/u

/** @returns '' for a text that says nothing of the page: none, figures, an address, a step within the site. A copy of its own. */
export function tellingText(raw: string): string {
  const text = collapseBlanks(raw)
  if (text.length < 2 || !letter.test(text)) return ''
  if (text.length <= 40 && idle.has(text.toLowerCase().replaceAll(aroundIt, ''))) return ''
  if (/^\w+:\/\//.test(text)) return ''
  return copyOf(text.length <= linkTextUnitsMax ? text : cut(text))
}

/** At the last blank, where there is one. */
function cut(text: string): string {
  const beginning = text.slice(0, linkTextUnitsMax)
  const blank = beginning.lastIndexOf(' ')
  return blank > linkTextUnitsMax / 2 ? beginning.slice(0, blank) : beginning
}
