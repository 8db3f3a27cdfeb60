/** What `Refresh: 5; url=/x` and its twin in `meta` say, by the HTML standard's grammar. Resolves nothing. */

/** One that waits longer than this, in seconds, is an update of the page and leads nowhere. */
export const refreshDelayMaxS = 60

/** Delay in seconds, fractions ignored, and address as it stands there; null where it names none. */
export function readRefresh(text: string): { delayS: number; address: string } | null {
  const match = /^\s*(\d{0,9}(?:\.\d{0,9})?)\s*[;,\s]\s*(?:url\s*=\s*)?(["']?)(.*)$/is.exec(text)
  if (match === null || match[1] === '' || match[1] === '.') return null
  const [, delay = '', quote = '', rest = ''] = match
  const end = quote === '' ? -1 : rest.indexOf(quote)
  const address = (end < 0 ? rest : rest.slice(0, end)).trim()
  return address === '' ? null : { delayS: Number(delay), address }
}
