/** Pages that exist only after their JavaScript ran: an empty shell with the root of a framework in it. Judged from the source alone. */

/** More visible text than this, in characters, is a page. */
const shellTextMax = 300
/** An element that frameworks draw into, closed again with next to nothing in it. */
const emptyRoot =
  /<(div|main|section|body|app-root)\b[^>]{0,300}?\bid\s*=\s*["']?(root|app|__next|__nuxt|___gatsby|svelte|main-app|react-root|q-app)["']?[^>]{0,300}>\s{0,200}(?:<!--[^>]{0,200}-->\s{0,200})?<\/\1>/i
const customRoot = /<(app-root|my-app|ng-app|polymer-app)\b[^>]{0,300}>[^<]{0,200}<\/\1>/i
const scriptTag = /<script\b[^>]{0,500}?(\bsrc\s*=|type\s*=\s*["']?module)/i
const noscriptHint =
  /<noscript\b[^>]{0,200}>[^]{0,500}?(enable javascript|javascript (is )?(required|disabled|enabled)|requires? javascript|启用\s?javascript|开启\s?javascript|啟用\s?javascript)/i
/** Searching stops here: shells are small. */
const charsMax = 200_000

/**
 * Is there nothing to read before JavaScript ran? A page with little text, with scripts, and with an empty framework root or a
 * word to those who switched scripts off.
 * @param main and @param rest are all its visible text, blanks collapsed
 */
export function isShell(html: string, main: string, rest: string, title: string): boolean {
  // Nearly all pages.
  if (main.length + rest.length > title.length + 2 * shellTextMax) return false
  const text = `${main}\n${rest}`
  const own = text.trim() === title.trim() ? '' : text.trim()
  if (own.length > shellTextMax) return false
  const source = html.slice(0, charsMax)
  if (!scriptTag.test(source)) return false
  return emptyRoot.test(source) || customRoot.test(source) || noscriptHint.test(source)
}
