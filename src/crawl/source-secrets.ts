/** Which parts of a source's HTTP settings are secret, as a user wrote them: hidden where a source is shown, put back where it is sent again. */
import { AppError } from '../lib/errors.ts'

/** Stands for a value that is not shown. Sent back, it means "as before". */
export const hiddenText = '***'

type Json = Record<string, unknown>
/** `before`: the value at the same place of the settings so far. */
type Change = (value: unknown, before: unknown, where: string) => unknown

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const objectOf = (value: unknown): Json => (isObject(value) ? value : {})

/** Header values, field values and the users of proxies. {"env": "NAME"} is no secret, it names one. */
function changeSecrets(source: unknown, before: unknown, change: Change): unknown {
  if (!isObject(source) || !isObject(source['http'])) return source
  const { http } = source
  const former = objectOf(objectOf(before)['http'])
  const changed: Json = { ...http }
  if (isObject(http['headers']))
    changed['headers'] = changeValues(http['headers'], former['headers'], 'http.headers', change)
  const { login } = http
  if (isObject(login) && isObject(login['fields'])) {
    const formerFields = objectOf(former['login'])['fields']
    const fields = changeValues(login['fields'], formerFields, 'http.login.fields', change)
    changed['login'] = { ...login, fields }
  }
  const { proxies } = http
  if (Array.isArray(proxies) || typeof proxies === 'string') {
    const formerList: unknown[] = [former['proxies'] ?? []].flat()
    const list = [proxies].flat().map((proxy, i) => {
      const same = formerList.find((one) => hideUser(one) === hideUser(proxy))
      return changeProxy(proxy, same, `http.proxies[${i}]`, change)
    })
    changed['proxies'] = Array.isArray(proxies) ? list : list[0]
  }
  return { ...source, http: changed }
}

const changeValues = (values: Json, before: unknown, where: string, change: Change): Json =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? change(value, objectOf(before)[name], `${where}.${name}`) : value,
    ]),
  )

function changeProxy(proxy: unknown, before: unknown, where: string, change: Change): unknown {
  const shown = hideUser(proxy)
  if (shown === null) return proxy
  const changed = change(proxy === shown ? hiddenText : proxy, before, where)
  return changed === hiddenText ? shown : changed
}

/** null where it names no user. */
function hideUser(proxy: unknown): string | null {
  if (typeof proxy !== 'string') return null
  const url = URL.parse(proxy)
  if (url === null || (url.username === '' && url.password === '')) return null
  return `${url.protocol}//${hiddenText}:${hiddenText}@${url.host}`
}

/** @param source as a user wrote it, and proved */
export const hideSecrets = (source: unknown): unknown =>
  changeSecrets(source, null, () => hiddenText)

/**
 * A source that was shown, changed and sent again: what is hidden in it gets its former value.
 * @throws AppError invalid_parameter where there is no former value
 */
export const restoreSecrets = (source: unknown, before: unknown): unknown =>
  changeSecrets(source, before, (value, former, where) => {
    if (value !== hiddenText) return value
    if (former === undefined || former === null)
      throw new AppError('invalid_parameter', `${where}: "${hiddenText}" stands for no value here`)
    return former
  })
