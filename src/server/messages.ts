/** Which language a visitor reads. The texts are in messages-en.ts and messages-zh.ts; no page is built here. */
import type { Call } from './call.ts'
import { firstOf } from './call.ts'
import { english } from './messages-en.ts'
import type { Messages } from './messages-en.ts'
import { simplified, traditional } from './messages-zh.ts'

export const languages = ['en', 'zh-CN', 'zh-TW'] as const
export type Language = (typeof languages)[number]
const all: Readonly<Record<Language, Messages>> = {
  en: english,
  'zh-CN': simplified,
  'zh-TW': traditional,
}
export const messagesOf = (language: Language): Messages => all[language]

export const languageCookie = 'findling_ui'
const isLanguage = (value: string | undefined): value is Language =>
  languages.some((language) => language === value)

/** One tag of a browser as one of ours. */
function nearest(tag: string): Language | null {
  if (/^zh\b.*\b(tw|hk|mo|hant)\b/i.test(tag)) return 'zh-TW'
  if (/^zh\b/i.test(tag)) return 'zh-CN'
  return /^en\b/i.test(tag) ? 'en' : null
}

/** `?ui=`, else the cookie, else the browser's list in its order of preference, else English. */
export function languageOf(call: Pick<Call, 'query' | 'cookie' | 'header'>): Language {
  for (const wish of [firstOf(call.query, 'ui'), call.cookie(languageCookie)]) {
    if (isLanguage(wish)) return wish
  }
  const ranked = (call.header('accept-language') ?? '')
    .slice(0, 200)
    .split(',')
    .map((item) => {
      const [tag = '', ...settings] = item.trim().split(';')
      const quality = /^\s*q=([\d.]+)/.exec(settings.join(';'))?.[1]
      return { tag, quality: quality === undefined ? 1 : Number(quality) }
    })
    .toSorted((a, b) => b.quality - a.quality)
  for (const { tag } of ranked) {
    const language = nearest(tag)
    if (language) return language
  }
  return 'en'
}
