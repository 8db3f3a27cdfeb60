// Makes complete pages more comfortable: suggestions, keys, colours. Nothing here is needed to search.
const root = document.documentElement
const box = document.querySelector('#q')
const list = document.querySelector('#suggestions')
const live = document.querySelector('#live')
const suggestDelayMs = 120

/** A combobox after the ARIA practices: focus stays in the box, aria-activedescendant points into the list. */
function createCombobox() {
  let texts = []
  let current = -1
  let request = null
  let timer = 0
  let isComposing = false

  const close = () => {
    clearTimeout(timer)
    request?.abort()
    list.hidden = true
    list.replaceChildren()
    texts = []
    current = -1
    box.setAttribute('aria-expanded', 'false')
    box.removeAttribute('aria-activedescendant')
  }
  const choose = (at) => {
    current = at
    for (const [place, item] of [...list.children].entries()) {
      item.setAttribute('aria-selected', String(place === at))
    }
    if (at < 0) box.removeAttribute('aria-activedescendant')
    else box.setAttribute('aria-activedescendant', `suggestion-${at}`)
    list.children[at]?.scrollIntoView({ block: 'nearest' })
  }
  const submit = (text) => {
    box.value = text
    close()
    box.form.requestSubmit()
  }
  const show = (found) => {
    texts = found
    list.replaceChildren(
      ...texts.map((text, at) => {
        const item = document.createElement('li')
        item.id = `suggestion-${at}`
        item.role = 'option'
        item.textContent = text
        // pointerdown, because the click would come after the box has lost its focus
        item.addEventListener('pointerdown', (event) => {
          event.preventDefault()
          submit(text)
        })
        return item
      }),
    )
    list.hidden = false
    box.setAttribute('aria-expanded', 'true')
    choose(-1)
    live.textContent = `${texts.length} ${live.dataset.found}`
  }
  const suggest = async () => {
    const typed = box.value.trim()
    request?.abort()
    if (typed === '' || typed.length > 200) return close()
    request = new AbortController()
    const parameters = new URLSearchParams({ q: typed, limit: '8' })
    try {
      const answer = await fetch(`${box.dataset.suggest}?${parameters}`, { signal: request.signal })
      const found = answer.ok ? (await answer.json()).suggestions.map(({ text }) => text) : []
      if (found.length === 0 || document.activeElement !== box) close()
      else show(found)
    } catch (error) {
      // Offline or overtaken by the next letter: the form works without suggestions.
      if (error.name !== 'AbortError') close()
    }
  }
  const schedule = () => {
    clearTimeout(timer)
    timer = setTimeout(suggest, suggestDelayMs)
  }
  const onKey = (event) => {
    // Keys that choose among the characters of an input method are not ours.
    if (isComposing || event.isComposing || event.keyCode === 229) return
    if (event.key === 'Escape' && !list.hidden) {
      event.preventDefault()
      close()
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (list.hidden) return void suggest()
      // One place more than there are suggestions: -1 is the box itself.
      const step = event.key === 'ArrowDown' ? 1 : -1
      const places = texts.length + 1
      choose(((current + 1 + step + places) % places) - 1)
    } else if (event.key === 'Enter' && current >= 0) {
      event.preventDefault()
      submit(texts[current])
    }
  }
  box.setAttribute('role', 'combobox')
  box.setAttribute('aria-autocomplete', 'list')
  box.setAttribute('aria-controls', 'suggestions')
  box.setAttribute('aria-expanded', 'false')
  box.autocomplete = 'off'
  box.addEventListener('compositionstart', () => (isComposing = true))
  box.addEventListener('compositionend', () => {
    isComposing = false
    schedule()
  })
  box.addEventListener('input', () => isComposing || schedule())
  box.addEventListener('blur', close)
  box.addEventListener('keydown', onKey)
}

/** Single keys, unless something is being typed or they were switched off (localStorage findling_keys = off). */
function createKeys() {
  const hits = [...document.querySelectorAll('.hit')]
  let current = -1
  const go = (at) => {
    if (hits.length === 0) return
    hits[current]?.removeAttribute('data-current')
    current = Math.max(0, Math.min(hits.length - 1, at))
    hits[current].setAttribute('data-current', '')
    hits[current].querySelector('a')?.focus()
    hits[current].scrollIntoView({ block: 'nearest' })
  }
  const deeds = {
    '/': () => {
      box?.focus()
      box?.select()
    },
    j: () => go(current + 1),
    k: () => go(current - 1),
    c: () => hits[current]?.querySelector('[data-stored]')?.click(),
    '?': () => document.querySelector('#keys').showModal(),
  }
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.closest('input, textarea, select, dialog')
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    if (!Object.hasOwn(deeds, event.key) || localStorage.getItem('findling_keys') === 'off') return
    event.preventDefault()
    deeds[event.key]()
  })
}

/** The choice is a cookie, so that the next page comes in these colours from the first paint on. */
function createThemeChoice() {
  const select = document.querySelector('#theme')
  select.closest('[hidden]').hidden = false
  select.addEventListener('change', () => {
    const theme = select.value
    if (theme === 'system') root.removeAttribute('data-theme')
    else root.setAttribute('data-theme', theme)
    document.cookie = `findling_theme=${theme}; Path=/; SameSite=Lax; Max-Age=31536000`
  })
}

/** The start prints an address that ends in #key=...: a fragment is never sent, so it is in no log. */
function takeKeyFromAddress() {
  const key = new URLSearchParams(location.hash.slice(1)).get('key')
  if (key === null) return
  const field = document.querySelector('#key')
  if (field) field.value = key
  history.replaceState(null, '', location.pathname + location.search)
}

if (box && list) createCombobox()
createKeys()
createThemeChoice()
takeKeyFromAddress()
